"""Robots as SDFormat 1.9; capsules are the format's own, friction and hulls Drake's extensions."""

from .model import Joint, Link, num, nums

TAGS = {
    "box": lambda s: f"<box><size>{nums(s)}</size></box>",
    "sphere": lambda s: f"<sphere><radius>{num(s[0])}</radius></sphere>",
    "cylinder": lambda s: f"<cylinder><radius>{num(s[0])}</radius><length>{num(s[1])}</length></cylinder>",
    "capsule": lambda s: f"<capsule><radius>{num(s[0])}</radius><length>{num(s[1])}</length></capsule>",
    "mesh": lambda uri: f"<mesh><uri>{uri}</uri></mesh>",
    "convex": lambda uri: f"<mesh><uri>{uri}</uri><drake:declare_convex/></mesh>",
}


def pose(xyz, rpy=(0, 0, 0), frame=None):
    relative = f' relative_to="{frame}"' if frame else ""
    return f"<pose{relative}>{nums(xyz)} {nums(rpy)}</pose>"


def shape(tag, name, s, contact=""):
    kind, sizes = s.geometry
    look = f"<material><diffuse>{nums(s.color[1])}</diffuse></material>" if s.color else ""
    geometry = f"<geometry>{TAGS[kind](sizes)}</geometry>"
    return f'      <{tag} name="{name}">{pose(s.xyz, s.rpy)}{geometry}{look}{contact}</{tag}>'


def link(l, frame):
    """A link sits at the frame of the joint that it hangs from."""
    lines = [f'    <link name="{l.name}">']
    if frame:
        lines.append(f"      {pose((0, 0, 0), frame=frame)}")
    if l.inertia:
        mass, com, inertia = l.inertia
        names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        values = "".join(f"<{n}>{num(v)}</{n}>" for n, v in zip(names, inertia))
        lines.append(f"      <inertial>{pose(com)}<mass>{num(mass)}</mass><inertia>{values}</inertia></inertial>")
    lines += [shape("visual", f"visual{k}", v) for k, v in enumerate(l.visuals)]
    contact = ""
    if l.friction is not None:
        mu = num(l.friction)
        contact = f"<drake:proximity_properties><drake:mu_static>{mu}</drake:mu_static>"
        contact += f"<drake:mu_dynamic>{mu}</drake:mu_dynamic></drake:proximity_properties>"
    lines += [shape("collision", f"collision{k}", c, contact) for k, c in enumerate(l.collisions)]
    return lines + ["    </link>"]


def joint(j):
    lines = [f'    <joint name="{j.name}" type="{j.kind}">']
    lines.append(f"      {pose(j.xyz, j.rpy, j.parent)}")
    lines.append(f"      <parent>{j.parent}</parent><child>{j.child}</child>")
    if j.axis:
        lines.append(f"      <axis><xyz>{nums(j.axis)}</xyz>")
        if j.limit:
            values = "".join(f"<{key}>{num(value)}</{key}>" for key, value in j.limit.items())
            lines.append(f"        <limit>{values}</limit>")
        if j.damping is not None:
            lines.append(f"        <dynamics><damping>{num(j.damping)}</damping></dynamics>")
        lines.append("      </axis>")
    return lines + ["    </joint>"]


def robot(name, elements, comment):
    """Motors need no element: joints with an effort limit have one."""
    lines = ['<?xml version="1.0"?>', f"<!-- {comment} Made by make_models.py. -->"]
    lines += ['<sdf version="1.9" xmlns:drake="https://drake.mit.edu">', f'  <model name="{name}">']
    joints = [e for e in elements if isinstance(e, Joint)]
    hangs_from = {j.child: j.name for j in joints}
    for e in elements:
        if isinstance(e, Link):
            lines += link(e, hangs_from.get(e.name))
    for j in joints:
        lines += joint(j)
    return "\n".join(lines + ["  </model>", "</sdf>"]) + "\n"
