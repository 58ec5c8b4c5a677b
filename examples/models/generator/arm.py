"""arm7: a seven-joint collaborative arm of our own design.

Roll joints (odd, about z) alternate with pitch joints (even, about y). At a pitch joint two flat
"ears" sit side by side, one of the parent and one of the child; each ear swells into a round tube
that ends at the next roll joint. At zero the arm stands straight up.
"""

import math

from . import hand, mjcf, model, sdf, urdf
from .mesh import Mesh, Section, disc, loft, mtl, revolve, ring, rounded_box, smoothstep

NAME = "arm7"
MATERIALS = {
    "shell": (0.9, 0.9, 0.88, 0.35),
    "grey": (0.42, 0.44, 0.47, 0.3),
    "dark": (0.09, 0.095, 0.105, 0.25),
    "orange": (0.93, 0.39, 0.06, 0.35),
    "metal": (0.66, 0.68, 0.71, 0.7),
    "light": (0.2, 0.78, 0.82, 0.2),
    "rubber": (0.05, 0.05, 0.055, 0.05),
}

# Ears at the pitch joints: (radius, width of one ear, side of the parent's ear along y).
SHOULDER = (0.078, 0.076, -1)
ELBOW = (0.064, 0.064, 1)
WRIST = (0.051, 0.056, -1)
# Radii of the tubes at the roll joints 1, 3, 5, 7.
TUBE = (0.074, 0.06, 0.051, 0.044)
# Distance from each joint to the next along the straight arm; the last ends at the flange.
BASE_HEIGHT = 0.16
STEPS = (0.18, 0.19, 0.19, 0.18, 0.18, 0.09, 0.08)

MASS = {
    "base_link": 4.2, "link1": 3.7, "link2": 3.1, "link3": 2.7, "link4": 2.1, "link5": 1.8,
    "link6": 1.15, "link7": 0.45, "flange": 0.12,
}
# lower/upper (rad), velocity (rad/s), effort (N m), damping (N m s/rad)
LIMITS = (
    (2.9, 2.1, 170, 2.0), (2.0, 2.1, 170, 2.0), (2.9, 2.4, 110, 1.2), (2.4, 2.4, 110, 1.2),
    (2.9, 3.1, 45, 0.5), (2.1, 3.1, 45, 0.5), (3.0, 3.1, 20, 0.3),
)


def to_side(side):
    """rpy that turns +z to side * y."""
    return (-side * math.pi / 2.0, 0.0, 0.0)


def knuckle(name, length, tube, ear, side, band, core):
    """A link with its ear at the origin and its round end at z = length."""
    radius, width, _ = ear
    mesh = Mesh(name)
    gap, fillet = 0.001, 0.014
    # The ear keeps clear of its neighbour up to its rim; the tube widens only beyond it.
    start, stop, end = 0.8 * radius, length - 0.022, length - 0.003
    heights = [start * k / 3.0 for k in range(3)]
    heights += [start + (stop - start) * k / 14.0 for k in range(15)] + [end]
    sections = []
    for z in heights:
        s, whole = smoothstep((z - start) / (stop - start)), smoothstep(z / stop)
        half = (width - gap) / 2.0
        centre = (0.0, side * (width + gap) / 2.0 * (1.0 - s), z)
        hv = half + (tube - half) * s
        sections.append(Section(centre, radius + (tube - radius) * whole, hv, fillet + (tube - fillet) * s))
    mesh.add(loft(sections, "shell"))
    turn = to_side(side)
    drum = [(0, gap), (radius, gap, 0.003), (radius, width, fillet), (0, width)]
    mesh.add(revolve(drum, "shell", 48), rpy=turn)
    # Cover: a dark recess ring, then the coloured cap with a shallow dome and its screws.
    cap = 0.72 * radius
    mesh.add(disc(cap + 0.0045, width - 0.004, width + 0.0008, "dark", 0.0005), rpy=turn)
    dome = [(0, width), (cap, width), (cap, width + 0.005, 0.0035), (0.45 * cap, width + 0.0085, 0.02), (0, width + 0.0085)]
    mesh.add(revolve(dome, "orange", 36, 3), rpy=turn)
    mesh.add(ring(0.3 * cap, 0.36 * cap, width + 0.006, width + 0.0091, "dark", 0.0, 32), rpy=turn)
    if core:
        mesh.add(disc(0.9 * radius, -0.004, 0.004, "dark"), rpy=turn)
    # Round end: a collar band and the dark seam of the roll joint.
    mesh.add(disc(tube + 0.0014, length - 0.0235, length - 0.0235 + band[1], band[0], 0.0012))
    mesh.add(disc(tube - 0.003, length - 0.004, length, "dark"))
    return mesh


def flipped(mesh, length):
    """The same link with the round end at the origin and the ear at z = length."""
    return mesh.moved((0.0, 0.0, length), (0.0, math.pi, 0.0))


def base():
    mesh = Mesh("base_link")
    foot = [
        (0, 0), (0.108, 0, 0.002), (0.108, 0.02, 0.006), (0.094, 0.024, 0.012), (0.08, 0.065, 0.05),
        (0.076, 0.12, 0.03), (0.076, BASE_HEIGHT - 0.014, 0.002), (0, BASE_HEIGHT - 0.014),
    ]
    mesh.add(revolve(foot, "shell", 56))
    mesh.add(disc(0.112, 0.0, 0.008, "grey", 0.002, 56))
    mesh.add(disc(0.0725, BASE_HEIGHT - 0.016, BASE_HEIGHT - 0.009, "light", 0.0, 48))
    mesh.add(disc(0.0755, BASE_HEIGHT - 0.0095, BASE_HEIGHT - 0.003, "shell", 0.0015, 48))
    mesh.add(disc(0.07, BASE_HEIGHT - 0.004, BASE_HEIGHT, "dark"))
    for k in range(6):
        angle = math.pi / 6.0 + k * math.pi / 3.0
        at = (0.1 * math.cos(angle), 0.1 * math.sin(angle), 0.0)
        mesh.add(disc(0.0055, 0.018, 0.0235, "metal", 0.001, 12, 1), at)
    mesh.add(rounded_box((0.05, 0.07, 0.056), 0.006, "grey", 0.01), (-0.088, 0.0, 0.036))
    for y in (-0.018, 0.018):
        mesh.add(disc(0.011, 0.0, 0.012, "metal", 0.002, 20, 2), (-0.112, y, 0.04), (0.0, -math.pi / 2.0, 0.0))
        mesh.add(disc(0.0075, 0.01, 0.0126, "dark", 0.0, 16, 1), (-0.112, y, 0.04), (0.0, -math.pi / 2.0, 0.0))
    return mesh


def wrist_disc():
    """link7: the last roll, with the guiding ring and its two buttons."""
    mesh, r, top = Mesh("link7"), TUBE[3], STEPS[6]
    mesh.add(revolve([(0, 0.002), (r, 0.002, 0.002), (r, 0.05, 0.012), (0.036, top - 0.012, 0.006), (0.036, top - 0.004, 0.002), (0, top - 0.004)], "shell", 44))
    mesh.add(disc(r + 0.0012, 0.012, 0.022, "orange", 0.0012, 44))
    mesh.add(disc(0.0335, top - 0.005, top, "light", 0.0, 44))
    for angle in (0.0, math.pi):
        mesh.add(disc(0.008, 0.04, r + 0.0012, "dark", 0.0012, 20, 2), (0, 0, 0.036), (0, math.pi / 2.0, angle))
    return mesh


def flange():
    mesh = Mesh("flange")
    mesh.add(disc(0.034, 0.0, 0.009, "metal", 0.0015, 44))
    mesh.add(disc(0.02, 0.008, 0.012, "metal", 0.0008, 32))
    for k in range(8):
        angle = math.pi / 8.0 + k * math.pi / 4.0
        mesh.add(disc(0.0026, 0.008, 0.0105, "dark", 0.0, 10, 1), (0.027 * math.cos(angle), 0.027 * math.sin(angle), 0))
    return mesh


def meshes():
    broad, narrow = ("orange", 0.013), ("grey", 0.008)
    return [
        base(),
        flipped(knuckle("link1", STEPS[0], TUBE[0], SHOULDER, SHOULDER[2], narrow, True), STEPS[0]),
        knuckle("link2", STEPS[1], TUBE[1], SHOULDER, -SHOULDER[2], broad, False),
        flipped(knuckle("link3", STEPS[2], TUBE[1], ELBOW, ELBOW[2], narrow, True), STEPS[2]),
        knuckle("link4", STEPS[3], TUBE[2], ELBOW, -ELBOW[2], broad, False),
        flipped(knuckle("link5", STEPS[4], TUBE[2], WRIST, WRIST[2], narrow, True), STEPS[4]),
        knuckle("link6", STEPS[5], TUBE[3], WRIST, -WRIST[2], narrow, False),
        wrist_disc(),
        flange(),
    ]


def spine(length, tube, ear, side, ear_on_top):
    """Collision of a knuckle: a capsule down the tube and a capsule leaning into the ear."""
    radius, width, _ = ear
    middle = side * 0.45 * width
    bend = (0.0, 0.0, length - tube if not ear_on_top else tube)
    at = (0.0, middle, 0.0 if not ear_on_top else length)
    return [model.capsule(at, bend, min(tube, 0.95 * radius)), model.shape(model.sphere(0.95 * radius), at)]


def collisions():
    b = BASE_HEIGHT
    r7 = TUBE[3]
    return {
        "base_link": [
            model.shape(model.box(0.18, 0.18, 0.024), (0, 0, 0.012)),
            model.shape(model.box(0.05, 0.07, 0.056), (-0.094, 0, 0.036)),
            model.capsule((0, 0, 0.08), (0, 0, b - 0.07), 0.078),
        ],
        "link1": spine(STEPS[0], TUBE[0], SHOULDER, SHOULDER[2], True),
        "link2": spine(STEPS[1], TUBE[1], SHOULDER, -SHOULDER[2], False),
        "link3": spine(STEPS[2], TUBE[1], ELBOW, ELBOW[2], True),
        "link4": spine(STEPS[3], TUBE[2], ELBOW, -ELBOW[2], False),
        "link5": spine(STEPS[4], TUBE[2], WRIST, WRIST[2], True),
        "link6": spine(STEPS[5], TUBE[3], WRIST, -WRIST[2], False),
        "link7": [model.capsule((0, 0, 0.028), (0, 0, 0.044), r7)],
        "flange": [model.shape(model.box(0.06, 0.06, 0.012), (0, 0, 0.006))],
    }


def files():
    """path inside the package -> text or bytes"""
    out, elements, shapes = {}, [], collisions()
    parts = {mesh.name: mesh for mesh in meshes()}
    for name, mesh in parts.items():
        com, inertia = mesh.mass_properties(MASS[name])
        visual = model.shape(model.mesh(f"package://{NAME}/meshes/{name}.obj"))
        elements.append(model.link(name, (MASS[name], com, inertia), [visual], shapes[name]))
    for i, (angle, velocity, effort, damping) in enumerate(LIMITS):
        parent = "base_link" if i == 0 else f"link{i}"
        height = BASE_HEIGHT if i == 0 else STEPS[i - 1]
        limit = {"lower": -angle, "upper": angle, "velocity": velocity, "effort": effort}
        axis = (0, 0, 1) if i % 2 == 0 else (0, 1, 0)
        elements.append(model.joint(f"joint{i + 1}", "revolute", parent, f"link{i + 1}", (0, 0, height), axis=axis, limit=limit, damping=damping))
    elements.append(model.joint("flange_joint", "fixed", "link7", "flange", (0, 0, STEPS[6])))
    motors = [model.motor(f"joint{i + 1}") for i in range(7)]
    out[f"{NAME}_bare.urdf"] = urdf.robot(f"{NAME}_bare", elements + motors, "A seven-joint collaborative arm, to be given a tool.")
    # The fingers are fixed half open: the arm keeps seven coordinates.
    grip, grip_elements = hand.links_and_joints(NAME, "fixed", 0.026)
    elements += grip_elements
    elements.append(model.joint("gripper_joint", "fixed", "flange", "gripper", *hand.ON_FLANGE))
    elements += motors
    for mesh in list(parts.values()) + grip:
        out[f"meshes/{mesh.name}.obj"] = mesh.obj(f"{NAME}.mtl")
    out[f"meshes/{NAME}.mtl"] = mtl(MATERIALS, MATERIALS)
    for suffix, language in (("urdf", urdf), ("sdf", sdf), ("xml", mjcf)):
        out[f"{NAME}.{suffix}"] = language.robot(NAME, elements, "A seven-joint collaborative arm with a parallel gripper.")
    out["package.xml"] = model.package_xml(NAME, "A seven-joint collaborative arm")
    return out
