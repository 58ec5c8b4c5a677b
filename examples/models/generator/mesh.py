"""Triangle meshes made of closed parts: revolved profiles and lofted sections.

Lengths are metres. Every part is a closed surface with outward normals, so volumes, centres of
mass and inertias follow from the triangles. Only `math` is used and the output is rounded, so
the written files are the same on every run.
"""

import math
import struct

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scale(a, s):
    return (a[0] * s, a[1] * s, a[2] * s)


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a):
    return scale(a, 1.0 / math.sqrt(dot(a, a)))


def rotation(rpy):
    """Rows of Rz(yaw) Ry(pitch) Rx(roll), the URDF convention."""
    cr, cp, cy = (math.cos(angle) for angle in rpy)
    sr, sp, sy = (math.sin(angle) for angle in rpy)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


class Part:
    """One closed surface of one material; `corners` of a triangle are (point, normal, uv)."""

    def __init__(self, material, triangles):
        self.material = material
        self.triangles = triangles

    def moved(self, xyz=(0.0, 0.0, 0.0), rpy=(0.0, 0.0, 0.0)):
        rows = rotation(rpy)

        def turn(a):
            return (dot(rows[0], a), dot(rows[1], a), dot(rows[2], a))

        return Part(
            self.material,
            [[(add(turn(p), xyz), turn(n), uv) for p, n, uv in t] for t in self.triangles],
        )


class Mesh:
    """A list of parts with a name; written as `<name>.obj` or `<name>.stl`."""

    def __init__(self, name):
        self.name = name
        self.parts = []

    def add(self, part, xyz=(0.0, 0.0, 0.0), rpy=(0.0, 0.0, 0.0)):
        self.parts.append(part.moved(xyz, rpy))
        return self

    def moved(self, xyz=(0.0, 0.0, 0.0), rpy=(0.0, 0.0, 0.0)):
        other = Mesh(self.name)
        other.parts = [part.moved(xyz, rpy) for part in self.parts]
        return other

    def triangles(self):
        return [t for part in self.parts for t in part.triangles]

    def mass_properties(self, mass):
        """(centre of mass, inertia about it as ixx ixy ixz iyy iyz izz) at uniform density.

        Where parts overlap, the material counts twice; the result is still that of a real body.
        """
        volume, first, second = 0.0, [0.0] * 3, [[0.0] * 3 for _ in range(3)]
        for triangle in self.triangles():
            a, b, c = (corner[0] for corner in triangle)
            six = dot(a, cross(b, c))  # six times the volume of the tetrahedron (0, a, b, c)
            total = add(add(a, b), c)
            volume += six / 6.0
            for i in range(3):
                first[i] += six * total[i] / 24.0
                for j in range(3):
                    products = a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + total[i] * total[j]
                    second[i][j] += six * products / 120.0
        assert volume > 0.0, self.name
        com = tuple(f / volume for f in first)
        s = [
            [mass * (second[i][j] / volume - com[i] * com[j]) for j in range(3)] for i in range(3)
        ]
        trace = s[0][0] + s[1][1] + s[2][2]
        inertia = (
            trace - s[0][0], -s[0][1], -s[0][2], trace - s[1][1], -s[1][2], trace - s[2][2],
        )
        return com, inertia

    def obj(self, library):
        """OBJ text; shared points are written once, so the surface is closed by index too."""
        lines = [f"# {self.name}: made by make_models.py", f"mtllib {library}"]
        tables = {"v": {}, "vt": {}, "vn": {}}
        values = {"v": [], "vt": [], "vn": []}

        def index(kind, numbers, digits):
            text = " ".join(_number(x, digits) for x in numbers)
            if text not in tables[kind]:
                tables[kind][text] = len(tables[kind]) + 1
                values[kind].append(f"{kind} {text}")
            return tables[kind][text]

        faces = []
        for material in sorted({part.material for part in self.parts}):
            faces.append(f"usemtl {material}")
            for part in self.parts:
                if part.material != material:
                    continue
                for triangle in part.triangles:
                    corners = []
                    for p, n, uv in triangle:
                        v, vn = index("v", p, 5), index("vn", n, 3)
                        vt = "" if uv is None else index("vt", uv, 4)
                        corners.append((v, vt, vn))
                    if len({corner[0] for corner in corners}) == 3:  # drop slivers
                        faces.append("f " + " ".join(f"{v}/{t}/{n}" for v, t, n in corners))
        return "\n".join(lines + values["v"] + values["vt"] + values["vn"] + faces) + "\n"

    def _facets(self):
        for triangle in self.triangles():
            points = [tuple(round(x, 6) + 0.0 for x in corner[0]) for corner in triangle]
            n = cross(sub(points[1], points[0]), sub(points[2], points[0]))
            if dot(n, n) > 1e-20:
                yield unit(n), points

    def stl_text(self):
        lines = [f"solid {self.name}"]
        for n, points in self._facets():
            lines.append("facet normal " + " ".join(_number(x, 5) for x in n))
            lines.append(" outer loop")
            lines += ["  vertex " + " ".join(_number(x, 6) for x in p) for p in points]
            lines += [" endloop", "endfacet"]
        return "\n".join(lines + [f"endsolid {self.name}"]) + "\n"

    def stl_binary(self):
        facets = list(self._facets())
        # The header must not begin with "solid": readers take that for the text form.
        out = [b"binary stl made by make_models.py".ljust(80), struct.pack("<I", len(facets))]
        for n, points in facets:
            numbers = [round(x, 5) + 0.0 for x in n] + [x for p in points for x in p]
            out.append(struct.pack("<12fH", *numbers, 0))
        return b"".join(out)


def _number(x, digits):
    text = f"{x:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _grid(rows, material, wrap):
    """Triangles of a grid of (point, normal, uv) corners; `wrap` joins the last column to the first."""
    triangles = []
    count = len(rows[0])
    for low, high in zip(rows, rows[1:]):
        for j in range(count if wrap else count - 1):
            k = (j + 1) % count
            for t in ([low[j], low[k], high[k]], [low[j], high[k], high[j]]):
                if all(
                    _far(t[i][0], t[(i + 1) % 3][0]) for i in range(3)
                ):
                    triangles.append(t)
    return Part(material, triangles)


def _far(a, b):
    d = sub(a, b)
    return dot(d, d) > 1e-16


def profile(points, arc=5):
    """(radius, height, fillet) corners -> (r, z, nr, nz) samples of the filleted outline.

    The outline starts and ends on the axis and has the material on its left, so its normal is
    the tangent turned right. A fillet of 0 leaves a sharp edge (two samples).
    """
    out = []
    points = [p if len(p) == 3 else (p[0], p[1], 0.0) for p in points]
    for i, (r, z, fillet) in enumerate(points):
        before = points[i - 1] if i > 0 else None
        after = points[i + 1] if i + 1 < len(points) else None
        tangents = [
            unit((b[0] - a[0], b[1] - a[1], 0.0))
            for a, b in ((before, points[i]), (points[i], after))
            if a is not None and b is not None
        ]
        normals = [(t[1], -t[0]) for t in tangents]
        if len(normals) == 1:
            out.append((r, z, *normals[0]))
        elif fillet <= 0.0:
            out += [(r, z, *n) for n in normals]
        else:
            turn = math.acos(max(-1.0, min(1.0, dot(tangents[0], tangents[1]))))
            back = fillet * math.tan(turn / 2.0)
            left = tangents[0][0] * tangents[1][1] - tangents[0][1] * tangents[1][0] > 0.0
            sign = 1.0 if left else -1.0
            start = (r - tangents[0][0] * back, z - tangents[0][1] * back)
            centre = (start[0] - sign * fillet * normals[0][0], start[1] - sign * fillet * normals[0][1])
            for k in range(arc + 1):
                angle = sign * turn * k / arc
                c, s = math.cos(angle), math.sin(angle)
                n = (c * normals[0][0] - s * normals[0][1], s * normals[0][0] + c * normals[0][1])
                out.append((centre[0] + sign * fillet * n[0], centre[1] + sign * fillet * n[1], *n))
    return out


def revolve(points, material, around=40, arc=5):
    """Closed surface of revolution about z of a filleted outline (see `profile`)."""
    rows = []
    for r, z, nr, nz in profile(points, arc):
        row = []
        for j in range(around):
            angle = 2.0 * math.pi * j / around
            c, s = math.cos(angle), math.sin(angle)
            row.append(((r * c, r * s, z), (nr * c, nr * s, nz), None))
        rows.append(row)
    return _grid(rows, material, wrap=True)


def disc(radius, low, high, material, fillet=0.0, around=36, arc=2):
    """Cylinder along z between two heights with filleted rims."""
    return revolve(
        [(0, low), (radius, low, fillet), (radius, high, fillet), (0, high)], material, around, arc
    )


def ring(inner, outer, low, high, material, fillet=0.0, around=36, arc=2):
    """Ring about z: a tube of rectangular section with filleted edges."""
    middle = (low + high) / 2.0
    corners = [
        (inner, middle), (inner, low, fillet), (outer, low, fillet),
        (outer, high, fillet), (inner, high, fillet), (inner, middle),
    ]
    return revolve(corners, material, around, arc)


class Section:
    """Rounded rectangle with centre `c`, half sizes along the unit vectors u and v."""

    def __init__(self, c, hu, hv, r, u=X, v=Y):
        self.c, self.hu, self.hv, self.u, self.v = c, hu, hv, u, v
        self.r = min(r, hu, hv)

    def points(self, corner):
        """(point, in-plane outward normal) around the outline, counter-clockwise about u x v."""
        out = []
        for quadrant in range(4):
            su = (1, -1, -1, 1)[quadrant] * (self.hu - self.r)
            sv = (1, 1, -1, -1)[quadrant] * (self.hv - self.r)
            for k in range(corner + 1):
                angle = math.pi / 2.0 * (quadrant + k / corner)
                c, s = math.cos(angle), math.sin(angle)
                normal = add(scale(self.u, c), scale(self.v, s))
                offset = add(scale(self.u, su + self.r * c), scale(self.v, sv + self.r * s))
                out.append((add(self.c, offset), normal))
        return out


def loft(sections, material, corner=9):
    """Closed surface through the sections, with flat ends; smooth normals along the way."""
    outlines = [section.points(corner) for section in sections]
    rows = []
    last = len(sections) - 1
    for i, (section, outline) in enumerate(zip(sections, outlines)):
        w = cross(section.u, section.v)
        row = []
        for j, (p, n) in enumerate(outline):
            t = sub(outlines[min(i + 1, last)][j][0], outlines[max(i - 1, 0)][j][0])
            # n + a w is perpendicular to the outline for every a; choose it perpendicular to t.
            along = dot(w, t)
            tilted = add(n, scale(w, -dot(n, t) / along)) if abs(along) > 1e-9 else n
            row.append((p, unit(tilted), None))
        rows.append(row)
    part = _grid(rows, material, wrap=True)
    for i, sign in ((0, -1.0), (last, 1.0)):
        w = scale(cross(sections[i].u, sections[i].v), sign)
        ends = [(p, w, None) for p, _ in outlines[i]]
        centre = (sections[i].c, w, None)
        for a, b in zip(ends, ends[1:] + ends[:1]):
            if _far(a[0], b[0]):
                part.triangles.append([centre, a, b] if sign > 0 else [centre, b, a])
    return part


def rounded_box(size, fillet, material, corner_radius=None, arc=4, corner=4):
    """Box centred at the origin, edges rounded by `fillet`, upright corners by `corner_radius`."""
    x, y, z = (s / 2.0 for s in size)
    radius = max(fillet, corner_radius or fillet)
    sections = []
    for end in (-1.0, 1.0):
        for k in range(arc + 1):
            angle = math.pi / 2.0 * (k if end < 0 else arc - k) / arc
            inset = fillet * (1.0 - math.sin(angle))
            height = end * (z - fillet + fillet * math.cos(angle))
            sections.append(Section((0, 0, height), x - inset, y - inset, radius - inset))
    return loft(sections, material, corner)


def smoothstep(x):
    x = max(0.0, min(1.0, x))
    return x * x * (3.0 - 2.0 * x)


def mtl(materials, names):
    """MTL text of the named materials: name -> (r, g, b, specular[, texture])."""
    lines = ["# made by make_models.py"]
    for name in sorted(names):
        r, g, b, specular, *texture = materials[name]
        lines += [f"newmtl {name}", f"Kd {r} {g} {b}", f"Ks {specular} {specular} {specular}"]
        lines += ["Ns 60", "d 1", "illum 2"] + [f"map_Kd {t}" for t in texture]
    return "\n".join(lines) + "\n"
