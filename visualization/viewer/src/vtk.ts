// Surfaces of legacy VTK files
// (https://docs.vtk.org/en/latest/vtk_file_formats/vtk_legacy_file_format.html): ASCII unstructured
// grids of tetrahedra and triangles, and polygons. The surface of tetrahedra consists of the faces
// that belong to only one of them.

import { Refused } from "./check";

export interface Surface {
  /** Three coordinates per vertex. */
  positions: Float32Array;
  /** Three vertices per triangle, counter-clockwise as seen from outside. */
  triangles: Uint32Array;
}

type Vector = [number, number, number];

const TRIANGLE = 5;
const TETRAHEDRON = 10;

// Faces of a tetrahedron, counter-clockwise as seen from outside, if its fourth corner is on the
// positive side of the first three.
const FACES = [
  [0, 2, 1],
  [0, 1, 3],
  [0, 3, 2],
  [1, 2, 3],
] as const;

class Words {
  private at = 0;
  constructor(private readonly words: string[]) {}

  next(): string | undefined {
    return this.words[this.at++];
  }

  need(what: string): string {
    const word = this.next();
    if (word === undefined) throw new Refused(`VTK: ${what} must follow, but the text ends`);
    return word;
  }

  count(what: string): number {
    const word = this.need(what);
    const n = Number(word);
    // Each element takes at least one word, so a count above the number of words is false.
    if (!Number.isInteger(n) || n < 0 || n > this.words.length) throw new Refused(`VTK: ${what} must be a whole number up to ${this.words.length}, got "${word}"`);
    return n;
  }

  numbers(count: number, what: string): number[] {
    if (count > this.words.length - this.at) throw new Refused(`VTK: ${count} numbers of ${what} must follow, but the text ends`);
    const out: number[] = [];
    for (let i = 0; i < count; i++) {
      const x = Number(this.words[this.at++]);
      if (!Number.isFinite(x)) throw new Refused(`VTK: ${what} must be finite numbers, got "${this.words[this.at - 1]}"`);
      out.push(x);
    }
    return out;
  }
}

/** Reads the lists of `CELLS` or `POLYGONS`, in either form of the format. */
function lists(words: Words, version5: boolean, what: string): number[][] {
  const a = words.count(`the number of ${what}`);
  const b = words.count(`the size of ${what}`);
  const out: number[][] = [];
  if (!version5) {
    const flat = words.numbers(b, what);
    for (let i = 0; i < flat.length && out.length < a; ) {
      const length = flat[i] as number;
      out.push(flat.slice(i + 1, i + 1 + length));
      i += 1 + Math.max(0, length);
    }
    return out;
  }
  words.need("OFFSETS");
  words.need("a type");
  const offsets = words.numbers(a, `offsets of ${what}`);
  words.need("CONNECTIVITY");
  words.need("a type");
  const flat = words.numbers(b, what);
  for (let i = 0; i + 1 < offsets.length; i++) out.push(flat.slice(offsets[i], offsets[i + 1]));
  return out;
}

/** Returns the faces that occur once, with the orientation given by their cell. */
function boundary(tetrahedra: number[][], points: number[]): number[] {
  const corner = (i: number): Vector => [
    points[3 * i] as number,
    points[3 * i + 1] as number,
    points[3 * i + 2] as number,
  ];
  const faces = new Map<string, number[] | null>();
  for (const cell of tetrahedra) {
    const [p, ...others] = cell.map(corner) as [Vector, Vector, Vector, Vector];
    const [[u0, u1, u2], [v0, v1, v2], [w0, w1, w2]] = others.map((q) => q.map((x, k) => x - (p[k] as number))) as [
      Vector,
      Vector,
      Vector,
    ];
    const volume = (u1 * v2 - u2 * v1) * w0 + (u2 * v0 - u0 * v2) * w1 + (u0 * v1 - u1 * v0) * w2;
    for (const [i, j, k] of FACES) {
      const face = [cell[i], volume < 0 ? cell[k] : cell[j], volume < 0 ? cell[j] : cell[k]] as number[];
      const key = [...face].sort((x, y) => x - y).join(" ");
      faces.set(key, faces.has(key) ? null : face);
    }
  }
  return [...faces.values()].flatMap((face) => face ?? []);
}

export function parseVtk(text: string): Surface {
  const lines = text.split(/\r?\n/);
  const header = /^# vtk DataFile Version (\d+)/i.exec(lines[0] ?? "");
  if (header === null) throw new Refused('VTK: the first line must begin with "# vtk DataFile Version"');
  if ((lines[2] ?? "").trim().toUpperCase() !== "ASCII") throw new Refused("VTK: only ASCII files are supported");
  const version5 = Number(header[1]) >= 5;
  const words = new Words(lines.slice(3).join("\n").split(/\s+/).filter((word) => word !== ""));
  let points: number[] = [];
  let cells: number[][] = [];
  let types: number[] = [];
  const triangles: number[] = [];
  const fan = (polygon: number[]): void => {
    for (let k = 1; k + 1 < polygon.length; k++) {
      triangles.push(polygon[0] as number, polygon[k] as number, polygon[k + 1] as number);
    }
  };
  for (let word = words.next(); word !== undefined; word = words.next()) {
    const section = word.toUpperCase();
    if (section === "DATASET") {
      const kind = words.need("a kind of data set").toUpperCase();
      if (kind !== "UNSTRUCTURED_GRID" && kind !== "POLYDATA") throw new Refused(`VTK: data sets must be UNSTRUCTURED_GRID or POLYDATA, got ${kind}`);
    } else if (section === "POINTS") {
      const count = words.count("the number of points");
      words.need("a type");
      points = words.numbers(3 * count, "POINTS");
    } else if (section === "CELLS") cells = lists(words, version5, "CELLS");
    else if (section === "POLYGONS") lists(words, version5, "POLYGONS").forEach(fan);
    else if (section === "CELL_TYPES") types = words.numbers(words.count("the number of cell types"), "CELL_TYPES");
    // Data fields follow, which are not shown.
    else if (section === "POINT_DATA" || section === "CELL_DATA") break;
  }
  const tetrahedra = cells.filter((cell, i) => types[i] === TETRAHEDRON && cell.length === 4);
  cells.forEach((cell, i) => {
    if (types[i] === TRIANGLE) fan(cell);
  });
  const count = points.length / 3;
  const bad = [...tetrahedra.flat(), ...triangles].find((i) => !Number.isInteger(i) || i < 0 || i >= count);
  if (bad !== undefined) throw new Refused(`VTK: cells must refer to one of ${count} points, got ${bad}`);
  const all = boundary(tetrahedra, points);
  const surface = new Uint32Array(triangles.length + all.length);
  surface.set(triangles);
  surface.set(all, triangles.length);
  if (surface.length === 0) throw new Refused("VTK: the file must have tetrahedra, triangles or polygons");
  return { positions: new Float32Array(points), triangles: surface };
}
