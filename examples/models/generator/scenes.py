"""scenes: model directives that put the models of the other packages together."""

import math

from . import hand, model, objects

NAME = "scenes"
# The overview of the scene, from the side of the arm.
EYE, TARGET = (1.35, -1.08, 0.78), (0.26, -0.035, 0.255)
OPENING = 0.026  # of each finger


def numbers(values, digits=6):
    return "[" + ", ".join(model.num(v, digits) for v in values) + "]"


def rotation(rpy):
    # Nine digits of a degree preserve the values given in radians.
    return f"!Rpy {{deg: {numbers([math.degrees(v) for v in rpy], 9)}}}"


def pose(indent, base, xyz, rpy):
    lines = [f"base_frame: {base}"] if base else []
    lines.append(f"translation: {numbers(xyz)}")
    if any(abs(v) > 1e-10 for v in rpy):
        lines.append(f"rotation: {rotation(rpy)}")
    return [indent + line for line in lines]


def look_at(eye, target):
    """rpy of a camera frame: z to the target, x to the right, y down."""
    z = [t - e for e, t in zip(eye, target)]
    z = [v / math.hypot(*z) for v in z]
    side = math.hypot(z[0], z[1])
    x = (z[1] / side, -z[0] / side, 0.0)
    y2 = z[0] * x[1] - z[1] * x[0]  # the last of z cross x
    # Of R = [x y z]: yaw = atan2(R10, R00), pitch = -asin(R20), roll = atan2(R21, R22).
    return (math.atan2(y2, z[2]), -math.asin(x[2]), math.atan2(x[1], x[0]))


def add_model(name, file, more=()):
    return ["- add_model:", f"    name: {name}", f"    file: package://{file}", *more]


def add_weld(parent, child, xyz=None, rpy=(0, 0, 0)):
    lines = ["- add_weld:", f"    parent: {parent}", f"    child: {child}"]
    return lines + (["    X_PC:"] + pose("      ", None, xyz, rpy) if xyz else [])


def add_frame(name, base, xyz, rpy=(0, 0, 0)):
    return ["- add_frame:", f"    name: {name}", "    X_PF:"] + pose("      ", base, xyz, rpy)


def table_top(scene, motion):
    """The objects of scene.json, stood on its table; the arm at the start of motion.json."""
    things = {o["name"]: o for o in scene["objects"]}
    table = things.pop("table")
    lines = ["# A table with an arm, its gripper and things to reach for. Made by make_models.py.", "directives:"]
    lines += add_model("table", f"{objects.NAME}/{table['model']}")
    lines += add_weld("world", "table::table", table["xyz"], table["rpy"])
    lines += add_frame("arm_mount", "table::table", [-v for v in table["xyz"]])
    q = motion["q"][0]
    start = [f"      joint{k + 1}: [{model.num(v)}]" for k, v in enumerate(q)]
    lines += add_model("arm7", "arm7/arm7_bare.urdf", ["    default_joint_positions:"] + start)
    lines += add_weld("arm_mount", "arm7::base_link")
    opened = [f"      {side}_finger_joint: [{model.num(OPENING)}]" for side in ("left", "right")]
    lines += add_model("gripper", "gripper/gripper.urdf", ["    default_joint_positions:"] + opened)
    lines += add_weld("arm7::flange", "gripper::gripper", *hand.ON_FLANGE)
    for name, thing in things.items():
        xyz = [a - b for a, b in zip(thing["xyz"], table["xyz"])]
        free = ["    default_free_body_pose:", f"      {name}:"] + pose("        ", "table::table", xyz, thing["rpy"])
        lines += add_model(name, f"{objects.NAME}/{thing['model']}", free)
    # Between the fingertips, and above the table for a whole view.
    lines += add_frame("grasp", "gripper::gripper", (0, 0, hand.HEIGHT + 0.05))
    lines += add_frame("wrist_camera", "gripper::gripper", (0.055, 0, 0.03), (0, math.radians(-15), 0))
    lines += add_frame("overview_camera", "world", EYE, look_at(EYE, TARGET))
    return "\n".join(lines) + "\n"


def table_top_planning(scene):
    """The same for motion planning, where objects that stand on the table do not collide with it."""
    things = [o["name"] for o in scene["objects"] if o["name"] != "table"]
    lines = ["# The same scene to plan motions: things may touch the table. Made by make_models.py."]
    lines += ["directives:", "- add_directives:", f"    file: package://{NAME}/table_top.dmd.yaml"]
    lines += ["- add_collision_filter_group:", "    name: things"]
    lines += ["    members:"] + [f"    - {name}::{name}" for name in things]
    lines += ["    ignored_collision_filter_groups: [table]"]
    lines += ["- add_collision_filter_group:", "    name: table", "    members: [table::table]"]
    return "\n".join(lines) + "\n"


def files(scene, motion):
    return {
        "table_top.dmd.yaml": table_top(scene, motion),
        "table_top_planning.dmd.yaml": table_top_planning(scene),
        "package.xml": model.package_xml(NAME, "Scenes of the other packages"),
    }
