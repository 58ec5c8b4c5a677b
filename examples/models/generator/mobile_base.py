"""mobile_base: a differential-drive platform, two driven wheels and two ball casters."""

import math

from . import model, urdf
from .mesh import Mesh, Section, disc, loft, mtl, revolve, ring, rounded_box

NAME = "mobile_base"
WHEEL_RADIUS, WHEEL_WIDTH, TRACK = 0.085, 0.036, 0.46
CASTER_RADIUS, CASTER_X = 0.025, 0.19


def outline(z, grow=0.0):
    return Section((0, 0, z), 0.25 + grow, 0.2 + grow, 0.09 + grow)


def chassis():
    mesh = Mesh("chassis")
    low, high = 0.04, 0.215
    heights = ((low, -0.02), (low + 0.004, -0.012), (low + 0.012, -0.006), (low + 0.03, -0.001), (0.075, 0.0))
    mesh.add(loft([outline(z, g) for z, g in heights] + [outline(high - 0.03)]
                  + [outline(high - 0.03 + 0.02 * math.sin(a), -0.02 * (1 - math.cos(a))) for a in (k * math.pi / 12 for k in range(1, 7))], "shell", 10))
    mesh.add(loft([outline(0.068, 0.006), outline(0.072, 0.009), outline(0.094, 0.009), outline(0.098, 0.006)], "dark", 10))
    mesh.add(loft([outline(0.126, 0.001), outline(0.131, 0.001)], "light", 10))
    mesh.add(loft([outline(high - 0.012, -0.04), outline(high + 0.001, -0.04), outline(high + 0.003, -0.042)], "grey", 10))
    for x in (-0.12, -0.04, 0.04, 0.12):
        for y in (-0.1, 0.1):
            mesh.add(disc(0.006, high, high + 0.0045, "metal", 0.0008, 14, 1), (x, y, 0))
    # Laser scanner in front, stop button behind, side covers above the wheels.
    mesh.add(disc(0.045, high, high + 0.018, "dark", 0.003), (0.145, 0, 0))
    mesh.add(disc(0.041, high + 0.017, high + 0.04, "glass", 0.0), (0.145, 0, 0))
    mesh.add(revolve([(0, high + 0.039), (0.045, high + 0.039, 0.002), (0.045, high + 0.06, 0.012), (0, high + 0.063)], "dark", 40), (0.145, 0, 0))
    mesh.add(disc(0.026, high, high + 0.008, "yellow", 0.002), (-0.17, 0.0, 0))
    mesh.add(revolve([(0, high + 0.006), (0.012, high + 0.006), (0.012, high + 0.016), (0.019, high + 0.018, 0.002), (0.019, high + 0.027, 0.006), (0, high + 0.029)], "red", 32), (-0.17, 0, 0))
    for side in (-1, 1):
        mesh.add(rounded_box((0.2, 0.012, 0.1), 0.004, "dark", 0.045, 3, 8), (0, side * 0.196, 0.1))
    for x in (-CASTER_X, CASTER_X):
        mesh.add(revolve([(0, 0.028), (0.024, 0.028, 0.002), (0.036, 0.05, 0.004), (0.036, 0.056), (0, 0.056)], "grey", 32), (x, 0, 0))
    return mesh


def chassis_hull():
    mesh = Mesh("chassis_hull")
    mesh.add(loft([outline(0.04, -0.02), outline(0.07, 0.009), outline(0.19, 0.005), outline(0.215, -0.02)], "shell", 3))
    return mesh


def wheel():
    """A wheel that turns about y, the hub cap towards +y."""
    mesh, r, w = Mesh("wheel"), WHEEL_RADIUS, WHEEL_WIDTH
    turn = (-math.pi / 2.0, 0.0, 0.0)
    mesh.add(ring(0.062, r, -w / 2, w / 2, "rubber", 0.007, 56), rpy=turn)
    mesh.add(ring(0.053, 0.064, -w / 2 + 0.003, w / 2 - 0.003, "metal", 0.0015, 56), rpy=turn)
    mesh.add(disc(0.055, -0.006, 0.002, "dark", 0.0, 40), rpy=turn)
    mesh.add(revolve([(0, -0.01), (0.02, -0.01, 0.002), (0.02, 0.013, 0.003), (0.013, 0.017, 0.002), (0, 0.017)], "orange", 32), rpy=turn)
    for k in range(5):
        angle = 2.0 * math.pi * k / 5.0
        spoke = rounded_box((0.042, 0.014, 0.014), 0.003, "metal", arc=2, corner=2)
        mesh.add(spoke, (0.037 * math.cos(angle), 0.004, -0.037 * math.sin(angle)), (math.pi / 2.0, angle, 0))
    return mesh


def caster():
    mesh, r = Mesh("caster"), CASTER_RADIUS
    arc = [(r * math.cos(a), r * math.sin(a)) for a in (math.pi * (k / 16.0 - 0.5) for k in range(1, 16))]
    mesh.add(revolve([(0, -r)] + [(x, z, 0.02) for x, z in arc] + [(0, r)], "metal", 28, 1))
    return mesh


def files(materials):
    parts = {mesh.name: mesh for mesh in (chassis(), chassis_hull(), wheel(), caster())}
    materials = dict(materials, glass=(0.05, 0.07, 0.12, 0.9), yellow=(0.93, 0.76, 0.08, 0.3), red=(0.8, 0.07, 0.06, 0.4))
    uri = f"package://{NAME}/meshes/"

    def visual(name):
        return [model.shape(model.mesh(f"{uri}{name}.obj"))]

    elements = [model.link("chassis", (14.0, *parts["chassis"].mass_properties(14.0)), visual("chassis"),
                          [model.shape(model.convex(uri + "chassis_hull.obj"))], friction=0.3)]
    joints = []
    for side, sign in (("left", 1), ("right", -1)):
        mesh = parts["wheel"] if sign > 0 else parts["wheel"].moved(rpy=(0, 0, math.pi))
        inertia = (0.9, *mesh.mass_properties(0.9))
        shown = [model.shape(model.mesh(uri + "wheel.obj"), rpy=(0, 0, 0 if sign > 0 else math.pi))]
        touch = [model.shape(model.cylinder(WHEEL_RADIUS, WHEEL_WIDTH), rpy=(math.pi / 2, 0, 0))]
        elements.append(model.link(f"{side}_wheel", inertia, shown, touch, friction=0.9))
        at = (0, sign * TRACK / 2, WHEEL_RADIUS)
        joints.append(model.joint(f"{side}_wheel_joint", "continuous", "chassis", f"{side}_wheel", at, axis=(0, 1, 0), limit={"velocity": 20, "effort": 12}, damping=0.05))
    for end, sign in (("front", 1), ("rear", -1)):
        inertia = (0.12, *parts["caster"].mass_properties(0.12))
        elements.append(model.link(f"{end}_caster", inertia, visual("caster"), [model.shape(model.sphere(CASTER_RADIUS))], friction=0.05))
        joints.append(model.joint(f"{end}_caster_joint", "fixed", "chassis", f"{end}_caster", (sign * CASTER_X, 0, CASTER_RADIUS)))
    joints += [model.motor(f"{side}_wheel_joint") for side in ("left", "right")]
    out = {f"meshes/{name}.obj": mesh.obj(f"{NAME}.mtl") for name, mesh in parts.items()}
    # The same hull as STL; the URDF refers to the OBJ, which is Drake's format for hulls.
    out["meshes/chassis_hull.stl"] = parts["chassis_hull"].stl_binary()
    out[f"meshes/{NAME}.mtl"] = mtl(materials, materials)
    out[f"{NAME}.urdf"] = urdf.robot(NAME, elements + joints, "A differential-drive platform; the frame lies on the floor, x ahead.")
    out["package.xml"] = model.package_xml(NAME, "A differential-drive platform")
    return out
