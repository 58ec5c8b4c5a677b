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


def soft_gripper():
    """Elements of a gripper with soft pads. It moves along z, tilts about the line between its pads
    and closes along y; at zero, the pads touch each other at the origin of its frame."""
    gray, dark, rubber = ("gray", (0.6, 0.62, 0.65, 1)), ("dark", (0.2, 0.21, 0.23, 1)), ("rubber", (0.95, 0.6, 0.2, 0.35))

    def block(mass, size, at, color):
        """Inertia and visual of a box of uniform density."""
        x, y, z = (v * v / 12.0 * mass for v in size)
        return (mass, at, (y + z, 0, 0, x + z, 0, x + y)), model.shape(model.box(*size), at, color=color)

    mast = block(0.5, (0.05, 0.05, 0.1), (0, 0, 0.2), dark)
    palm = block(0.4, (0.06, 0.2, 0.03), (0, 0, 0.11), gray)
    finger = block(0.06, (0.03, 0.01, 0.08), (0, 0.025, 0.055), dark)
    pad = model.shape(model.box(0.03, 0.02, 0.05), (0, 0.01, 0))
    soft = {"compliant_hydroelastic": None, "hydroelastic_modulus": 1e5, "hunt_crossley_dissipation": 1.0}
    limits = {"z": (0, 0.5, 1, 400), "tilt": (-1.6, 1.6, 4, 40), "finger": (0, 0.07, 0.5, 60)}

    def joint(name, kind, parent, child, axis, limit, yaw=0.0):
        lower, upper, velocity, effort = limits[limit]
        limit = {"lower": lower, "upper": upper, "velocity": velocity, "effort": effort}
        return model.joint(name, kind, parent, child, (0, 0, 0), (0, 0, yaw), axis, limit, 2.0 if kind == "prismatic" else 0.2)

    elements = [model.link("mast", mast[0], [mast[1]]), model.link("palm", palm[0], [palm[1]])]
    for side in ("left", "right"):
        visuals = [finger[1], pad._replace(color=rubber)]
        elements.append(model.link(f"{side}_finger", finger[0], visuals, [pad], friction=1.0, hydroelastic=soft))
    elements += [
        joint("lift", "prismatic", "world", "mast", (0, 0, 1), "z"),
        joint("tilt", "revolute", "mast", "palm", (0, 1, 0), "tilt"),
        joint("left_finger_joint", "prismatic", "palm", "left_finger", (0, 1, 0), "finger"),
        joint("right_finger_joint", "prismatic", "palm", "right_finger", (0, 1, 0), "finger", math.pi),
    ]
    return elements + [model.motor(j.name) for j in elements if isinstance(j, model.Joint)]


def files(materials):
    meshes, elements = links_and_joints(NAME, "prismatic", 0.0)
    elements += [model.motor(f"{side}_finger_joint") for side in ("left", "right")]
    out = {f"meshes/{mesh.name}.obj": mesh.obj(f"{NAME}.mtl") for mesh in meshes}
    # The same hull as STL; the URDF refers to the OBJ, which is Drake's format for hulls.
    out["meshes/finger_hull.stl"] = meshes[2].stl_text()
    out[f"meshes/{NAME}.mtl"] = mtl(materials, materials)
    out[f"{NAME}.urdf"] = urdf.robot(NAME, elements, "A parallel gripper with two independent fingers.")
    out["soft_gripper.urdf"] = urdf.robot("soft_gripper", soft_gripper(), "A parallel gripper with compliant pads, on a mast that lifts and tilts it.")
    out["package.xml"] = model.package_xml(NAME, "A parallel gripper")
    return out
