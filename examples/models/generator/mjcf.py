"""Robots as MJCF, fixed to the world: free models would need an explicit floating joint."""

from .model import Joint, Link, Motor, num, nums

JOINTS = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide"}


def half(x):
    """Exactly half of the number that the other formats write."""
    return num(float(num(x)) / 2.0, 7)


SIZES = {
    "box": lambda s: " ".join(half(v) for v in s),
    "sphere": nums,
    "cylinder": lambda s: f"{num(s[0])} {half(s[1])}",
    "capsule": lambda s: f"{num(s[0])} {half(s[1])}",
}


def place(xyz, rpy):
    text = f' pos="{nums(xyz)}"' if any(abs(v) > 1e-10 for v in xyz) else ""
    return text + (f' euler="{nums(rpy)}"' if any(abs(v) > 1e-10 for v in rpy) else "")


def mesh_name(uri):
    return uri.rsplit("/", 1)[-1].removesuffix(".obj")


def geom(s, kind, friction=None):
    shape, sizes = s.geometry
    what = f' mesh="{mesh_name(sizes)}"' if shape in ("mesh", "convex") else f' type="{shape}" size="{SIZES[shape](sizes)}"'
    color = f' rgba="{nums(s.color[1])}"' if s.color else ""
    mu = f' friction="{num(friction)}"' if friction is not None else ""
    return f'<geom class="{kind}"{what}{place(s.xyz, s.rpy)}{color}{mu}/>'


def joint(j):
    text = f'<joint name="{j.name}" type="{JOINTS[j.kind]}" axis="{nums(j.axis)}"'
    if j.limit and "lower" in j.limit:
        text += f' range="{num(j.limit["lower"])} {num(j.limit["upper"])}"'
    return text + (f' damping="{num(j.damping)}"/>' if j.damping is not None else "/>")


def body(l, at, links, children, indent):
    lines = [f'{indent}<body name="{l.name}"{place(at.xyz, at.rpy) if at else ""}>']
    inside = indent + "  "
    if l.inertia:
        mass, com, (xx, xy, xz, yy, yz, zz) = l.inertia
        values = nums((xx, yy, zz, xy, xz, yz))
        lines.append(f'{inside}<inertial mass="{num(mass)}" pos="{nums(com)}" fullinertia="{values}"/>')
    if at and at.kind != "fixed":
        lines.append(inside + joint(at))
    lines += [inside + geom(v, "visual") for v in l.visuals]
    lines += [inside + geom(c, "collision", l.friction) for c in l.collisions]
    for j in children.get(l.name, ()):
        lines += body(links[j.child], j, links, children, inside)
    return lines + [f"{indent}</body>"]


def robot(name, elements, comment):
    links = {e.name: e for e in elements if isinstance(e, Link)}
    joints = {e.name: e for e in elements if isinstance(e, Joint)}
    children = {}
    for j in joints.values():
        children.setdefault(j.parent, []).append(j)
    below = {j.child for j in joints.values()}
    meshes = {}
    for l in links.values():
        for s in l.visuals + l.collisions:
            if s.geometry[0] in ("mesh", "convex"):
                meshes[mesh_name(s.geometry[1])] = None
    lines = [f"<!-- {comment} Made by make_models.py. -->", f'<mujoco model="{name}">']
    lines.append('  <compiler angle="radian" eulerseq="XYZ" meshdir="meshes"/>')
    # Visual geoms do not collide; collision geoms are in a hidden group.
    lines += ["  <default>", '    <default class="visual"><geom type="mesh" group="2" contype="0" conaffinity="0"/></default>']
    lines += ['    <default class="collision"><geom group="3"/></default>', "  </default>", "  <asset>"]
    lines += [f'    <mesh file="{m}.obj"/>' for m in meshes] + ["  </asset>", "  <worldbody>"]
    for l in links.values():
        if l.name not in below:
            lines += body(l, None, links, children, "    ")
    lines += ["  </worldbody>", "  <actuator>"]
    for m in (e for e in elements if isinstance(e, Motor)):
        effort = num(joints[m.joint].limit["effort"])
        lines.append(f'    <motor name="{m.joint}_motor" joint="{m.joint}" ctrlrange="-{effort} {effort}"/>')
    return "\n".join(lines + ["  </actuator>", "</mujoco>"]) + "\n"
