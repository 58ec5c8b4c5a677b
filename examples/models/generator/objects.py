"""table_top: a table and things to put on it."""

import math
import struct
import zlib

from . import model, urdf
from .mesh import Mesh, Part, Section, X, Z, add, disc, loft, mtl, revolve, rounded_box, scale

NAME = "table_top"
MATERIALS = {
    "wood": (1.0, 1.0, 1.0, 0.12, "wood.png"),
    "wood_edge": (0.50, 0.33, 0.19, 0.1),
    "steel": (0.16, 0.17, 0.19, 0.3),
    "glaze": (0.13, 0.36, 0.55, 0.5),
    "glaze_light": (0.93, 0.91, 0.86, 0.4),
    "cardboard": (0.72, 0.54, 0.34, 0.03),
    "tape": (0.83, 0.71, 0.48, 0.25),
    "label": (0.92, 0.91, 0.88, 0.05),
    "ink": (0.12, 0.12, 0.13, 0.05),
    "tin": (0.74, 0.75, 0.77, 0.8),
    "red": (0.74, 0.09, 0.08, 0.35),
    "cream": (0.95, 0.88, 0.7, 0.2),
    "bottle": (0.16, 0.5, 0.27, 0.5),
    "cap": (0.93, 0.93, 0.92, 0.3),
}

# The top spans [-0.7, 0.7] in x and y about the link frame, which lies in its surface.
TOP, THICK, HEIGHT = (1.4, 1.4), 0.036, 0.74


def wood_png(width=512, height=128):
    """A wood grain as an RGB PNG, stored without compression so that the bytes never vary."""

    def wave(x, y, seed):
        return math.sin(x * 1.7 + 2.1 * math.sin(y * 0.9 + seed)) * math.sin(y * 2.3 + 1.3 * math.sin(x * 0.6 + seed))

    state, speckle = 12345, []
    for _ in range(4096):
        state = (1103515245 * state + 12345) % 2**31
        speckle.append(state / 2**31)
    rows = bytearray()
    for j in range(height):
        rows.append(0)
        for i in range(width):
            # Whole periods along both axes, so that neighbouring planks may start anywhere.
            u, v = 2.0 * math.pi * i / width, 2.0 * math.pi * j / height
            warp = 1.6 * math.sin(u + 0.8 * math.sin(v)) + 0.7 * math.sin(2.0 * u + 2.0 * v) + 0.5 * wave(math.sin(u), math.sin(v), 1.0)
            grain = 0.5 + 0.5 * math.sin(5.0 * v + 1.5 * warp)
            fine = 0.5 + 0.5 * math.sin(31.0 * v + 2.0 * warp + math.sin(3.0 * u))
            fibre = speckle[(j * 31 + (i // 24) * 7) % 4096]
            t = 0.42 * grain + 0.2 * fine + 0.38 * fibre
            rows += bytes(int(round(low + (high - low) * t)) for low, high in ((173, 201), (126, 152), (83, 103)))
    stored = bytearray(b"\x78\x01")
    for start in range(0, len(rows), 65535):
        block = rows[start : start + 65535]
        stored += struct.pack("<BHH", start + 65535 >= len(rows), len(block), len(block) ^ 0xFFFF) + block
    stored += struct.pack(">I", zlib.adler32(bytes(rows)))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", bytes(stored)) + chunk(b"IEND", b"")


def textured(part, u_scale, v_scale, u_start, v_start):
    """Texture coordinates from x and y, for surfaces seen from above."""
    return Part(
        part.material,
        [[(p, n, (p[0] * u_scale + u_start, p[1] * v_scale + v_start)) for p, n, _ in t] for t in part.triangles],
    )


def table():
    top, frame = Mesh("table_planks"), Mesh("table_frame")
    planks = 8
    width = TOP[1] / planks
    for k in range(planks):
        plank = rounded_box((TOP[0], width - 0.0015, THICK), 0.003, "wood", arc=2, corner=2)
        plank = textured(plank, 0.6, 2.2, 0.37 * k % 1.0, 0.29 * k % 1.0)
        top.add(plank, (0, (k + 0.5) * width - TOP[1] / 2.0, -THICK / 2.0))
    frame.add(rounded_box((TOP[0] - 0.02, TOP[1] - 0.02, 0.01), 0.001, "wood_edge", arc=1, corner=1), (0, 0, -THICK - 0.001))
    x, y = TOP[0] / 2.0 - 0.08, TOP[1] / 2.0 - 0.08
    for sx in (-1, 1):
        for sy in (-1, 1):
            frame.add(rounded_box((0.06, 0.06, HEIGHT - 0.03), 0.004, "steel", arc=2, corner=2), (sx * x, sy * y, -(HEIGHT + 0.03) / 2.0))
    for sy in (-1, 1):
        frame.add(rounded_box((2 * x, 0.03, 0.07), 0.003, "steel", arc=2, corner=2), (0, sy * y, -0.075))
        frame.add(rounded_box((0.03, 2 * y, 0.07), 0.003, "steel", arc=2, corner=2), (sy * x, 0, -0.075))
    legs = [model.shape(model.box(0.06, 0.06, HEIGHT - 0.036), (sx * x, sy * y, -(HEIGHT + 0.036) / 2)) for sx in (-1, 1) for sy in (-1, 1)]
    board = model.shape(model.box(TOP[0], TOP[1], THICK), (0, 0, -THICK / 2))
    return [top, frame], 38.0, [board] + legs


def mug_handle(wall, material, corner, count):
    """A handle that leaves the wall and comes back to it: half an oval in the x-z plane."""
    sections = []
    for k in range(count + 1):
        angle = math.pi * (k / count - 0.5)
        c = (wall + 0.03 * math.cos(angle), 0.0, 0.05 + 0.029 * math.sin(angle))
        along = (-0.03 * math.sin(angle), 0.0, 0.029 * math.cos(angle))
        out = scale((along[2], 0.0, -along[0]), 1.0 / math.hypot(along[0], along[2]))
        sections.append(Section(c, 0.0038, 0.0058, 0.0036, out, (0.0, 1.0, 0.0)))
    return loft(sections, material, corner)


def mug_surface():
    """The mug as a coarse mesh for contact: wall, bottom and handle, a trace outside of the visual
    mesh, so that pressures drawn on it remain visible."""
    mesh, r, h = Mesh("mug_surface"), 0.0403, 0.095
    outline = [(0, 0.003), (0.027, 0.003), (0.028, 0), (0.034, 0), (r, 0.009), (r, h), (r - 0.004, h), (r - 0.004, 0.012), (0, 0.007)]
    mesh.add(revolve(outline, "glaze", 48))
    mesh.add(mug_handle(r - 0.003, "glaze", 1, 10))
    return mesh


def mug():
    mesh, r, h = Mesh("mug"), 0.04, 0.095
    outline = [
        (0, 0.003), (0.026, 0.003, 0.001), (0.028, 0, 0.001), (0.033, 0, 0.0015), (r, 0.009, 0.01), (r, h, 0.0017),
        (r - 0.0035, h, 0.0017), (r - 0.0035, 0.012, 0.006), (0, 0.007),
    ]
    mesh.add(revolve(outline, "glaze", 48))
    mesh.add(revolve([(0, 0.068), (r - 0.003, 0.068), (0, 0.0684)], "ink", 40))  # coffee
    mesh.add(revolve([(0.0385, 0.07), (0.0385, 0.062, 0.0), (r + 0.0003, 0.062, 0.0002), (r + 0.0003, 0.07, 0.0002), (0.0385, 0.07)], "glaze_light", 48, 1))
    mesh.add(mug_handle(r - 0.003, "glaze", 4, 20))
    collisions = model.round_post(r, 0.0, h)
    collisions.append(model.shape(model.box(0.014, 0.0116, 0.058), (r + 0.0238, 0, 0.05)))
    collisions.append(model.capsule((r + 0.003, 0, 0.079), (r + 0.019, 0, 0.075), 0.0056))
    collisions.append(model.capsule((r + 0.003, 0, 0.021), (r + 0.019, 0, 0.025), 0.0056))
    return [mesh], 0.35, collisions


def carton():
    mesh = Mesh("box")
    x, y, z = 0.14, 0.10, 0.085
    mesh.add(rounded_box((x, y, z), 0.0015, "cardboard", arc=2, corner=2), (0, 0, z / 2))
    mesh.add(rounded_box((x + 0.0006, 0.028, 0.001), 0.0003, "tape", arc=1, corner=1), (0, 0, z))
    for side in (-1, 1):
        mesh.add(rounded_box((0.001, 0.028, 0.03), 0.0003, "tape", arc=1, corner=1), (side * x / 2, 0, z - 0.015))
        mesh.add(rounded_box((0.0007, 0.0012, z - 0.034), 0.0002, "ink", arc=1, corner=1), (side * x / 2, 0, z / 2 - 0.016))
    mesh.add(rounded_box((0.055, 0.0007, 0.036), 0.0002, "label", arc=1, corner=1), (0.022, -y / 2, 0.034))
    for k, width in enumerate((0.04, 0.034, 0.044, 0.022)):
        mesh.add(rounded_box((width, 0.0005, 0.0032), 0.0001, "ink", arc=1, corner=1), (0.0 + width / 2, -y / 2 - 0.0003, 0.046 - 0.0075 * k))
    return [mesh], 0.24, [model.shape(model.box(x, y, z), (0, 0, z / 2))]


def can():
    mesh, r, h = Mesh("can"), 0.033, 0.115
    shell = [(0, 0.004), (0.022, 0.004, 0.002), (0.024, 0, 0.001), (0.027, 0, 0.002), (r - 0.0004, 0.011, 0.006), (r - 0.0004, 0.102, 0.006),
             (0.027, 0.112, 0.002), (0.027, h, 0.0009), (0.0245, h, 0.0009), (0.0245, 0.1115, 0.001), (0, 0.1115)]
    mesh.add(revolve(shell, "tin", 48))
    mesh.add(disc(r, 0.0135, 0.099, "red", 0.001, 48))
    mesh.add(disc(r + 0.0002, 0.04, 0.066, "cream", 0.0002, 48, 1))
    mesh.add(disc(r + 0.0003, 0.044, 0.0465, "red", 0.0002, 48, 1))
    mesh.add(disc(r + 0.0003, 0.0595, 0.062, "red", 0.0002, 48, 1))
    mesh.add(rounded_box((0.022, 0.014, 0.0012), 0.0005, "tin", 0.006, 1, 4), (0.006, 0, 0.1125))
    return [mesh], 0.37, model.round_post(r, 0.0, h)


def bottle():
    mesh, r, h = Mesh("bottle"), 0.035, 0.215
    glass = [(0, 0.006), (0.022, 0.002, 0.004), (0.027, 0, 0.003), (r, 0.004, 0.006), (r, 0.125, 0.03), (0.0145, 0.172, 0.02), (0.0135, 0.2, 0.002), (0, 0.2)]
    mesh.add(revolve(glass, "bottle", 48, 8))
    mesh.add(disc(r + 0.0003, 0.03, 0.095, "label", 0.0003, 48, 1))
    mesh.add(disc(r + 0.0006, 0.052, 0.072, "bottle", 0.0003, 48, 1))
    mesh.add(disc(0.0155, 0.192, h, "cap", 0.0015, 36))
    mesh.add(disc(0.0162, 0.19, 0.1935, "cap", 0.001, 36, 2))
    collisions = model.round_post(r, 0.0, 0.128)
    collisions += [model.capsule((0, 0, 0.12), (0, 0, 0.138), 0.026), model.capsule((0, 0, 0.13), (0, 0, h - 0.0155), 0.0155)]
    return [mesh], 0.62, collisions


def files():
    out = {}
    models = (
        ("table", table(), "A table; its link frame lies in the middle of the top surface."),
        ("mug", mug(), "A coffee mug; the frame is at the middle of its foot."),
        ("box", carton(), "A taped cardboard box; the frame is at the middle of its underside."),
        ("can", can(), "A drink can; the frame is at the middle of its foot."),
        ("bottle", bottle(), "A bottle; the frame is at the middle of its foot."),
    )
    for name, (meshes, mass, collisions), comment in models:
        whole = Mesh(name)
        whole.parts = [part for mesh in meshes for part in mesh.parts]
        visuals = [model.shape(model.mesh(f"package://{NAME}/meshes/{mesh.name}.obj")) for mesh in meshes]
        link = model.link(name, (mass, *whole.mass_properties(mass)), visuals, collisions, friction=0.6)
        out[f"{name}.urdf"] = urdf.robot(name, [link], comment)
        for mesh in meshes:
            out[f"meshes/{mesh.name}.obj"] = mesh.obj(f"{NAME}.mtl")
    # The mug again, with its true surface for hydroelastic contact.
    (visual,), mass, _ = mug()
    surface = mug_surface()
    shapes = [[model.shape(model.mesh(f"package://{NAME}/meshes/{m.name}.obj"))] for m in (visual, surface)]
    rigid = model.link("mug", (mass, *visual.mass_properties(mass)), *shapes, friction=0.6, hydroelastic={"rigid_hydroelastic": None})
    out["mug_hydroelastic.urdf"] = urdf.robot("mug", [rigid], "The coffee mug, rigid, with its hollow surface for hydroelastic contact.")
    out["meshes/mug_surface.obj"] = surface.obj(f"{NAME}.mtl")
    # Two models whose visuals are primitives, so that nothing but the URDF is needed to load them.
    m, r = 0.058, 0.034
    ball_inertia = 0.4 * m * r * r
    ball = model.link("ball", (m, (0, 0, r), (ball_inertia, 0, 0, ball_inertia, 0, ball_inertia)),
                     [model.shape(model.sphere(r), (0, 0, r), color=("felt", (0.8, 0.86, 0.16, 1)))],
                     [model.shape(model.sphere(r), (0, 0, r))], friction=0.7)
    out["ball.urdf"] = urdf.robot("ball", [ball], "A tennis-sized ball; the frame is at its lowest point.")
    m, a = 0.09, 0.05
    cube = m * a * a / 6.0
    side = add(scale(X, 0), scale(Z, a / 2))
    block = model.link("block", (m, side, (cube, 0, 0, cube, 0, cube)),
                      [model.shape(model.box(a, a, a), side, color=("paint", (0.86, 0.2, 0.14, 1)))],
                      [model.shape(model.box(a, a, a), side)], friction=0.6)
    out["block.urdf"] = urdf.robot("block", [block], "A painted wooden cube; the frame is at the middle of its underside.")
    out[f"meshes/{NAME}.mtl"] = mtl(MATERIALS, MATERIALS)
    out["meshes/wood.png"] = wood_png()
    out["package.xml"] = model.package_xml(NAME, "A table and things to put on it")
    return out
