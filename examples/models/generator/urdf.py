"""URDF text: links, joints and collision shapes."""

import math

from .mesh import add, dot, scale, sub


def num(x):
    # Rounding noise of quantities that are zero by symmetry must not reach the file.
    return "0" if abs(x) < 1e-10 else f"{x:.6g}"


def nums(values):
    return " ".join(num(v) for v in values)


def origin(xyz, rpy=(0, 0, 0)):
    return f'<origin xyz="{nums(xyz)}" rpy="{nums(rpy)}"/>'


def shape(geometry, xyz=(0, 0, 0), rpy=(0, 0, 0), color=None):
    """A visual or collision body: origin and geometry, with an optional flat colour."""
    material = f'<material name="{color[0]}"><color rgba="{nums(color[1])}"/></material>' if color else ""
    return f"{origin(xyz, rpy)}<geometry>{geometry}</geometry>{material}"


def box(x, y, z):
    return f'<box size="{nums((x, y, z))}"/>'


def sphere(radius):
    return f'<sphere radius="{num(radius)}"/>'


def cylinder(radius, length):
    return f'<cylinder radius="{num(radius)}" length="{num(length)}"/>'


def mesh(uri):
    return f'<mesh filename="{uri}"/>'


def convex(uri):
    return f'<mesh filename="{uri}"><drake:declare_convex/></mesh>'


def capsule(start, end, radius):
    """The capsule (Drake's URDF extension) whose axis runs from `start` to `end`."""
    d = sub(end, start)
    length = math.sqrt(dot(d, d))
    pitch = math.atan2(math.hypot(d[0], d[1]), d[2])
    yaw = math.atan2(d[1], d[0])
    geometry = f'<drake:capsule radius="{num(radius)}" length="{num(length)}"/>'
    return shape(geometry, scale(add(start, end), 0.5), (0, pitch, yaw))


def round_post(radius, low, high):
    """Collision shapes inside an upright cylinder: two boxes (an eight-cornered star) and a capsule."""
    side = radius * math.sqrt(2.0)
    middle, height = (low + high) / 2.0, high - low
    shapes = [shape(box(side, side, height), (0, 0, middle), (0, 0, a)) for a in (0, math.pi / 4)]
    return shapes + [capsule((0, 0, low + radius), (0, 0, high - radius), radius)]


def inertial(mass, com, inertia):
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    values = " ".join(f'{n}="{num(v)}"' for n, v in zip(names, inertia))
    return f'<inertial>{origin(com)}<mass value="{num(mass)}"/><inertia {values}/></inertial>'


def link(name, inertia=None, visuals=(), collisions=(), friction=None):
    lines = [f'  <link name="{name}">']
    if inertia:
        lines.append(f"    {inertial(*inertia)}")
    lines += [f"    <visual>{v}</visual>" for v in visuals]
    contact = ""
    if friction is not None:
        contact = f'<drake:proximity_properties><drake:mu_static value="{num(friction)}"/>'
        contact += f'<drake:mu_dynamic value="{num(friction)}"/></drake:proximity_properties>'
    lines += [f"    <collision>{c}{contact}</collision>" for c in collisions]
    return "\n".join(lines + ["  </link>"])


def joint(name, kind, parent, child, xyz=(0, 0, 0), rpy=(0, 0, 0), axis=None, limit=None, damping=None):
    lines = [f'  <joint name="{name}" type="{kind}">']
    lines.append(f'    {origin(xyz, rpy)}<parent link="{parent}"/><child link="{child}"/>')
    if axis:
        lines.append(f'    <axis xyz="{nums(axis)}"/>')
    if limit:
        values = " ".join(f'{key}="{num(value)}"' for key, value in limit.items())
        lines.append(f"    <limit {values}/>")
    if damping is not None:
        lines.append(f'    <dynamics damping="{num(damping)}"/>')
    return "\n".join(lines + ["  </joint>"])


def transmission(joint_name):
    return "\n".join([
        f'  <transmission name="{joint_name}_transmission">',
        "    <type>transmission_interface/SimpleTransmission</type>",
        f'    <joint name="{joint_name}"/><actuator name="{joint_name}_motor"/>',
        "  </transmission>",
    ])


def robot(name, elements, comment):
    head = f'<?xml version="1.0"?>\n<!-- {comment} Made by make_models.py. -->\n'
    open_tag = f'<robot name="{name}" xmlns:drake="https://drake.mit.edu">\n'
    return head + open_tag + "\n".join(elements) + "\n</robot>\n"


def package_xml(name, description):
    return (
        '<?xml version="1.0"?>\n<package format="2">\n'
        f"  <name>{name}</name>\n  <version>1.0.0</version>\n"
        f"  <description>{description}</description>\n"
        '  <maintainer email="maintainers@example.com">tarragon maintainers</maintainer>\n'
        "  <license>Same as tarragon</license>\n</package>\n"
    )
