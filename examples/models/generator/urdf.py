"""Robots as URDF; capsules, hulls, friction and hydroelastics are Drake's extensions."""

from .model import Joint, Link, num, nums

TAGS = {
    "box": lambda s: f'<box size="{nums(s)}"/>',
    "sphere": lambda s: f'<sphere radius="{num(s[0])}"/>',
    "cylinder": lambda s: f'<cylinder radius="{num(s[0])}" length="{num(s[1])}"/>',
    "capsule": lambda s: f'<drake:capsule radius="{num(s[0])}" length="{num(s[1])}"/>',
    "mesh": lambda uri: f'<mesh filename="{uri}"/>',
    "convex": lambda uri: f'<mesh filename="{uri}"><drake:declare_convex/></mesh>',
}


def origin(xyz, rpy=(0, 0, 0)):
    return f'<origin xyz="{nums(xyz)}" rpy="{nums(rpy)}"/>'


def shape(s):
    material = f'<material name="{s.color[0]}"><color rgba="{nums(s.color[1])}"/></material>' if s.color else ""
    kind, sizes = s.geometry
    return f"{origin(s.xyz, s.rpy)}<geometry>{TAGS[kind](sizes)}</geometry>{material}"


def inertial(mass, com, inertia):
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    values = " ".join(f'{n}="{num(v)}"' for n, v in zip(names, inertia))
    return f'<inertial>{origin(com)}<mass value="{num(mass)}"/><inertia {values}/></inertial>'


def link(l):
    lines = [f'  <link name="{l.name}">']
    if l.inertia:
        lines.append(f"    {inertial(*l.inertia)}")
    lines += [f"    <visual>{shape(v)}</visual>" for v in l.visuals]
    properties = dict(l.hydroelastic or {})
    if l.friction is not None:
        properties.update(mu_static=l.friction, mu_dynamic=l.friction)
    contact = ""
    if properties:
        elements = (f"<drake:{key}/>" if v is None else f'<drake:{key} value="{num(v)}"/>' for key, v in properties.items())
        contact = f"<drake:proximity_properties>{''.join(elements)}</drake:proximity_properties>"
    lines += [f"    <collision>{shape(c)}{contact}</collision>" for c in l.collisions]
    return lines + ["  </link>"]


def joint(j):
    lines = [f'  <joint name="{j.name}" type="{j.kind}">']
    lines.append(f'    {origin(j.xyz, j.rpy)}<parent link="{j.parent}"/><child link="{j.child}"/>')
    if j.axis:
        lines.append(f'    <axis xyz="{nums(j.axis)}"/>')
    if j.limit:
        values = " ".join(f'{key}="{num(value)}"' for key, value in j.limit.items())
        lines.append(f"    <limit {values}/>")
    if j.damping is not None:
        lines.append(f'    <dynamics damping="{num(j.damping)}"/>')
    return lines + ["  </joint>"]


def transmission(motor):
    return [
        f'  <transmission name="{motor.joint}_transmission">',
        "    <type>transmission_interface/SimpleTransmission</type>",
        f'    <joint name="{motor.joint}"/><actuator name="{motor.joint}_motor"/>',
        "  </transmission>",
    ]


def robot(name, elements, comment):
    lines = ['<?xml version="1.0"?>', f"<!-- {comment} Made by make_models.py. -->"]
    lines.append(f'<robot name="{name}" xmlns:drake="https://drake.mit.edu">')
    for e in elements:
        lines += link(e) if isinstance(e, Link) else joint(e) if isinstance(e, Joint) else transmission(e)
    return "\n".join(lines + ["</robot>"]) + "\n"
