"""The parallel gripper: on its own (prismatic fingers) and at the end of arm7 (fixed fingers)."""

import math

from . import model, urdf
from .mesh import Mesh, Section, disc, loft, mtl, rounded_box, smoothstep

NAME = "gripper"
BODY_MASS, FINGER_MASS = 0.72, 0.06
HEIGHT = 0.072  # of the gripper's body along z
STROKE = 0.04  # travel of one finger along its y
ON_FLANGE = ((0, 0, 0.009), (0, 0, math.pi / 2))  # xyz and rpy of the gripper on the arm's flange


def body():
    mesh = Mesh("gripper")
    sections = []
    for k in range(13):
        z = 0.004 + (HEIGHT - 0.010) * k / 12.0
        s = smoothstep((z - 0.006) / 0.036)
        sections.append(Section((0, 0, z), 0.034 - 0.005 * s, 0.034 + 0.026 * s, 0.034 - 0.02 * s))
    top = sections[-1]
    for inset, rise in ((0.0012, 0.003), (0.004, 0.0042)):
        sections.append(Section((0, 0, top.c[2] + rise), top.hu - inset, top.hv - inset, top.r - inset))
    mesh.add(loft(sections, "shell", 7))
    mesh.add(disc(0.035, 0.0, 0.0055, "grey", 0.0012, 40))
    # The slot of the fingers, the side plates and a status light.
    mesh.add(rounded_box((0.03, 0.104, 0.006), 0.0015, "dark", arc=2, corner=3), (0, 0, HEIGHT - 0.0018))
    for side in (-1.0, 1.0):
        mesh.add(rounded_box((0.003, 0.062, 0.022), 0.0012, "dark", 0.006, 2, 4), (side * 0.029, 0, 0.05))
        mesh.add(rounded_box((0.0014, 0.03, 0.003), 0.0006, "light", arc=1, corner=2), (side * 0.0308, 0, 0.05))
        mesh.add(disc(0.012, 0.05, 0.0612, "orange", 0.001, 28, 2), (0, 0, 0.05), (-side * math.pi / 2, 0, 0))
    return mesh


def finger():
    """A finger whose pad faces -y; the pad plane is y = 0, the root is at z = 0."""
    mesh = Mesh("finger")
    mesh.add(rounded_box((0.026, 0.03, 0.016), 0.002, "grey", arc=2, corner=3), (0, 0.016, 0.008))
    sections = []
    for k in range(9):
        t = k / 8.0
        s = smoothstep(t)
        half = 0.0085 - 0.0042 * s
        sections.append(Section((0, 0.0035 + half + 0.0025 * (1 - s), 0.008 + 0.054 * t), 0.012 - 0.003 * s, half, 0.003))
    mesh.add(loft(sections, "metal", 4))
    mesh.add(rounded_box((0.018, 0.004, 0.026), 0.001, "rubber", arc=2, corner=2), (0, 0.002, 0.048))
    return mesh


def finger_hull():
    """The convex outline of the finger, for collision in the stand-alone gripper."""
    mesh = Mesh("finger_hull")
    mesh.add(loft([Section((0, 0.0155, 0.0), 0.013, 0.0155, 0.002), Section((0, 0.0155, 0.016), 0.013, 0.0155, 0.002), Section((0, 0.0062, 0.062), 0.009, 0.0062, 0.002)], "metal", 1))
    return mesh


def links_and_joints(package, kind, opening):
    """(meshes, URDF elements) of the gripper; `opening` is the pad's distance from the middle."""
    meshes = [body(), finger()]
    uri = f"package://{package}/meshes/"
    elements = [
        model.link(
            "gripper",
            (BODY_MASS, *meshes[0].mass_properties(BODY_MASS)),
            [model.shape(model.mesh(uri + "gripper.obj"))],
            [model.shape(model.box(0.058, 0.116, 0.042), (0, 0, 0.052)), model.capsule((0, 0, 0.034), (0, 0, 0.04), 0.034)],
        )
    ]
    if kind == "fixed":
        hull = [model.shape(model.box(0.026, 0.03, 0.016), (0, 0.016, 0.008)), model.shape(model.box(0.02, 0.013, 0.046), (0, 0.0065, 0.039))]
    else:
        hull = [model.shape(model.convex(uri + "finger_hull.obj"))]
        meshes.append(finger_hull())
    limit = None if kind == "fixed" else {"lower": 0, "upper": STROKE, "velocity": 0.15, "effort": 60}
    damping = None if kind == "fixed" else 8.0
    axis = None if kind == "fixed" else (0, 1, 0)
    inertia = (FINGER_MASS, *meshes[1].mass_properties(FINGER_MASS))
    joints = []
    # The right finger is the left one rotated by 180 degrees, so both open along their own +y.
    for side, yaw in (("left", 0.0), ("right", math.pi)):
        visual = model.shape(model.mesh(uri + "finger.obj"))
        elements.append(model.link(f"{side}_finger", inertia, [visual], hull, friction=0.9))
        at = (0, opening if yaw == 0.0 else -opening, HEIGHT)
        joints.append(model.joint(f"{side}_finger_joint", kind, "gripper", f"{side}_finger", at, (0, 0, yaw), axis, limit, damping))
    return meshes, elements + joints


def files(materials):
    meshes, elements = links_and_joints(NAME, "prismatic", 0.0)
    elements += [model.motor(f"{side}_finger_joint") for side in ("left", "right")]
    out = {f"meshes/{mesh.name}.obj": mesh.obj(f"{NAME}.mtl") for mesh in meshes}
    # The same hull as STL; the URDF refers to the OBJ, which is Drake's format for hulls.
    out["meshes/finger_hull.stl"] = meshes[2].stl_text()
    out[f"meshes/{NAME}.mtl"] = mtl(materials, materials)
    out[f"{NAME}.urdf"] = urdf.robot(NAME, elements, "A parallel gripper with two independent fingers.")
    out["package.xml"] = model.package_xml(NAME, "A parallel gripper")
    return out
