"""Robot models independent of the file format: links, shapes, joints and motors."""

from __future__ import annotations

import math
from typing import NamedTuple

from .mesh import add, dot, scale, sub


def num(x, digits=6):
    # Rounding noise of quantities that are zero by symmetry must not reach the file.
    return "0" if abs(x) < 1e-10 else f"{x:.{digits}g}"


def nums(values):
    return " ".join(num(v) for v in values)


class Shape(NamedTuple):
    """A visual or collision shape at a pose in its link, with an optional flat colour (name, rgba)."""

    geometry: tuple  # (kind, sizes) or ("mesh" or "convex", uri)
    xyz: tuple = (0, 0, 0)
    rpy: tuple = (0, 0, 0)
    color: tuple | None = None


class Link(NamedTuple):
    name: str
    inertia: tuple | None  # mass, centre of mass, (ixx, ixy, ixz, iyy, iyz, izz) about it
    visuals: list
    collisions: list
    friction: float | None
    hydroelastic: dict | None  # Drake's elements in <drake:proximity_properties>, without value if None


class Joint(NamedTuple):
    name: str
    kind: str  # fixed, revolute, continuous or prismatic
    parent: str
    child: str
    xyz: tuple
    rpy: tuple
    axis: tuple | None
    limit: dict | None
    damping: float | None


class Motor(NamedTuple):
    joint: str


def shape(geometry, xyz=(0, 0, 0), rpy=(0, 0, 0), color=None):
    return Shape(geometry, xyz, rpy, color)


def box(x, y, z):
    return ("box", (x, y, z))


def sphere(radius):
    return ("sphere", (radius,))


def cylinder(radius, length):
    return ("cylinder", (radius, length))


def mesh(uri):
    return ("mesh", uri)


def convex(uri):
    return ("convex", uri)


def capsule(start, end, radius):
    """The capsule whose axis runs from `start` to `end`."""
    d = sub(end, start)
    length = math.sqrt(dot(d, d))
    pitch = math.atan2(math.hypot(d[0], d[1]), d[2])
    yaw = math.atan2(d[1], d[0])
    return Shape(("capsule", (radius, length)), scale(add(start, end), 0.5), (0, pitch, yaw))


def round_post(radius, low, high):
    """Collision shapes inside an upright cylinder: two boxes (an eight-cornered star) and a capsule."""
    side = radius * math.sqrt(2.0)
    middle, height = (low + high) / 2.0, high - low
    shapes = [shape(box(side, side, height), (0, 0, middle), (0, 0, a)) for a in (0, math.pi / 4)]
    return shapes + [capsule((0, 0, low + radius), (0, 0, high - radius), radius)]


def link(name, inertia=None, visuals=(), collisions=(), friction=None, hydroelastic=None):
    return Link(name, inertia, list(visuals), list(collisions), friction, hydroelastic)


def joint(name, kind, parent, child, xyz=(0, 0, 0), rpy=(0, 0, 0), axis=None, limit=None, damping=None):
    return Joint(name, kind, parent, child, xyz, rpy, axis, limit, damping)


def motor(joint_name):
    return Motor(joint_name)


def package_xml(name, description):
    return (
        '<?xml version="1.0"?>\n<package format="2">\n'
        f"  <name>{name}</name>\n  <version>1.0.0</version>\n"
        f"  <description>{description}</description>\n"
        '  <maintainer email="maintainers@example.com">tarragon maintainers</maintainer>\n'
        "  <license>Same as tarragon</license>\n</package>\n"
    )
