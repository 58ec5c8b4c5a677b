"""humanoid: a person of capsules and spheres with 21 motors, to fall."""

from . import model
from .model import num, nums

NAME = "humanoid"
# Colours of shirt, trousers, skin and shoes.
SHIRT, TROUSERS, SKIN, SHOE = "0.22 0.42 0.62 1", "0.28 0.29 0.33 1", "0.86 0.68 0.55 1", "0.12 0.12 0.13 1"
AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}


def capsule(start, end, radius, color):
    return f'<geom type="capsule" size="{num(radius)}" fromto="{nums(start)} {nums(end)}" rgba="{color}"/>'


def sphere(center, radius, color):
    return f'<geom type="sphere" size="{num(radius)}" pos="{nums(center)}" rgba="{color}"/>'


def hinge(name, axis, lower, upper, damping):
    return f'<joint name="{name}" axis="{nums(AXES[axis])}" range="{num(lower)} {num(upper)}" damping="{num(damping)}"/>'


def body(name, at, content, indent):
    """A body; its content is lines and functions that make lines at an indentation."""
    lines = [f'{indent}<body name="{name}" {at}>']
    for c in content:
        lines += c(indent + "  ") if callable(c) else [indent + "  " + c]
    return lines + [f"{indent}</body>"]


def part(name, at, *content, lean=None):
    place = f'pos="{nums(at)}"' + (f' euler="{nums(lean)}"' if lean else "")
    return lambda indent: body(name, place, content, indent)


def leg(side, s):
    foot = part(
        f"{side}_foot", (0, 0, -0.4),
        hinge(f"{side}_ankle_pitch", "y", -0.9, 0.6, 1), hinge(f"{side}_ankle_roll", "x", -0.4, 0.4, 1),
        capsule((-0.05, 0.025, -0.05), (0.15, 0.03, -0.05), 0.025, SHOE),
        capsule((-0.05, -0.025, -0.05), (0.15, -0.03, -0.05), 0.025, SHOE),
    )
    shin = part(
        f"{side}_shin", (0, 0, -0.4),
        hinge(f"{side}_knee", "y", 0, 2.5, 1),
        capsule((0, 0, -0.03), (0, 0, -0.35), 0.045, TROUSERS), foot,
    )
    return part(
        f"{side}_thigh", (0, s * 0.1, -0.07),
        hinge(f"{side}_hip_roll", "x", -0.5, 0.5, 1), hinge(f"{side}_hip_yaw", "z", -0.7, 0.7, 1),
        hinge(f"{side}_hip_pitch", "y", -2, 0.6, 1),
        capsule((0, 0, -0.02), (0, 0, -0.34), 0.06, TROUSERS), shin,
    )


def arm(side, s):
    def turned(lower, upper):
        # Mirrored on the right.
        return (lower, upper) if s > 0 else (-upper, -lower)

    forearm = part(
        f"{side}_forearm", (0, s * 0.3, 0),
        hinge(f"{side}_elbow", "z", *turned(-2.3, 0), 0.5),
        capsule((0, 0, 0), (0, s * 0.22, 0), 0.032, SKIN), sphere((0, s * 0.29, 0), 0.042, SKIN),
    )
    return part(
        f"{side}_upper_arm", (0, s * 0.19, 0.27),
        hinge(f"{side}_shoulder_roll", "x", *turned(-1.5, 1), 0.5), hinge(f"{side}_shoulder_yaw", "z", *turned(-1.5, 0.6), 0.5),
        capsule((0, 0, 0), (0, s * 0.26, 0), 0.042, SHIRT), forearm,
    )


MOTORS = [("waist_yaw", 120), ("waist_pitch", 160), ("waist_roll", 120)]
for _side in ("left", "right"):
    MOTORS += [(f"{_side}_hip_roll", 120), (f"{_side}_hip_yaw", 80), (f"{_side}_hip_pitch", 160), (f"{_side}_knee", 160)]
    MOTORS += [(f"{_side}_ankle_pitch", 80), (f"{_side}_ankle_roll", 50)]
    MOTORS += [(f"{_side}_shoulder_roll", 50), (f"{_side}_shoulder_yaw", 50), (f"{_side}_elbow", 30)]
# Neighbours whose shapes overlap.
EXCLUDED = [("pelvis", "torso")]
for _side in ("left", "right"):
    EXCLUDED += [("pelvis", f"{_side}_thigh"), ("torso", f"{_side}_upper_arm"), (f"{_side}_shin", f"{_side}_foot")]


def mjcf():
    torso = part(
        "torso", (0, 0, 0.13),
        hinge("waist_yaw", "z", -0.8, 0.8, 2), hinge("waist_pitch", "y", -0.5, 1.2, 2), hinge("waist_roll", "x", -0.5, 0.5, 2),
        capsule((0, -0.06, 0.03), (0, 0.06, 0.03), 0.085, SHIRT), capsule((0, -0.08, 0.12), (0, 0.08, 0.12), 0.09, SHIRT),
        capsule((0, -0.1, 0.23), (0, 0.1, 0.23), 0.1, SHIRT), capsule((0, 0, 0.33), (0, 0, 0.4), 0.045, SKIN),
        sphere((0, 0, 0.49), 0.1, SKIN), arm("left", 1), arm("right", -1),
    )
    pelvis = part(
        "pelvis", (0, 0, 0.945), '<freejoint name="floating"/>',
        capsule((0, -0.08, 0), (0, 0.08, 0), 0.09, TROUSERS), torso, leg("left", 1), leg("right", -1),
        lean=(0.05, -0.1, 0),  # or it would sink upon its knees
    )
    lines = ["<!-- A person who collapses: no controller, motors at 0. Made by make_models.py. -->", f'<mujoco model="{NAME}">']
    lines += ['  <compiler angle="radian"/>', "  <default>", '    <joint type="hinge" limited="true" armature="0.01"/>']
    lines += ['    <geom density="1000"/>', "  </default>", "  <worldbody>"] + pelvis("    ") + ["  </worldbody>", "  <contact>"]
    lines += [f'    <exclude body1="{a}" body2="{b}"/>' for a, b in EXCLUDED] + ["  </contact>", "  <actuator>"]
    lines += [f'    <motor name="{j}_motor" joint="{j}" ctrlrange="-{u} {u}"/>' for j, u in MOTORS]
    return "\n".join(lines + ["  </actuator>", "</mujoco>"]) + "\n"


def files():
    return {
        "humanoid.xml": mjcf(),
        "package.xml": model.package_xml(NAME, "A humanoid of capsules and spheres"),
    }
