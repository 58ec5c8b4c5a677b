import assert from "node:assert/strict";
import { test } from "node:test";

import { BoxGeometry, Group, Mesh, MeshPhongMaterial } from "three";

import { Player } from "../src/animation";
import { BitReader } from "../src/bits";
import { Log } from "../src/log";
import { readClip } from "../src/playback";
import { Tree } from "../src/tree";
import { moveVertices, positionsOf } from "../src/vertices";

/** Packs bits, the first one lowest. */
function packed(...bits: string[]): Uint8Array {
  const all = bits.join("");
  const out = new Uint8Array(Math.ceil(all.length / 8));
  [...all].forEach((bit, i) => (out[i >> 3]! |= Number(bit) << (i & 7)));
  return out;
}

const binary = (value: number, count: number): string => [...Array(count).keys()].map((i) => (value >> i) & 1).join("");

test("codes are those of the README", () => {
  const bits = new BitReader(packed("101", "10000", "00", "01", "100", "1111100", "11111", "00000", "1".repeat(24), "1".repeat(32)));
  assert.equal(bits.bits(3), 5);
  const values = new Int32Array(4);
  bits.values(values);
  assert.deepEqual([...values], [0, -1, 1, 5]);
  bits.values(values);
  assert.deepEqual([...values], [0, 0, 0, 0]);
  bits.values(values.subarray(0, 1));
  assert.equal(values[0], -(2 ** 31));
  assert.throws(() => bits.bits(8), /too early/);
});

/** Values with parameter 2, at most 3 in absolute value. */
const values = (...list: number[]): string =>
  binary(2, 5) + list.map((x) => (x < 0 ? -2 * x - 1 : 2 * x)).map((x) => "1".repeat(x >> 2) + "0" + binary(x & 3, 2)).join("");

/** Three vertices in steps of 1/4, in frames 0, 2 and 3 at 2 frames per second. */
function track(change: object = {}) {
  return {
    path: "/soft",
    fps: 2,
    order: Uint32Array.of(2, 0, 1),
    from: Uint32Array.of(3, 3, 3, 2, 3, 3, 2, 0, 3),
    groups: [
      {
        frames: Uint32Array.of(0, 2, 3),
        exponent: -2,
        data: packed(
          // x: 2 in vertex 2, then 2 - 1 and 3 + 1 in vertices 0 and 1; y and z: 0.
          binary(0, 2) + "1", values(2, -1, 1), binary(31, 5), binary(31, 5),
          // The same, with 3 more in z of vertex 1.
          binary(1, 2) + "0", binary(31, 5), binary(31, 5), values(0, 0, 3),
          // It goes on.
          binary(2, 2) + "0", binary(31, 5), binary(31, 5), binary(31, 5),
        ),
      },
    ],
    ...change,
  };
}

const message = (vertices: unknown) => ({ animations: [], vertices: [vertices], options: { play: false } }) as never;

test("recorded vertices are those of the frame, and interpolated in between", () => {
  const clip = readClip(message(track()));
  assert.equal(clip.duration, 1.5);
  const at = (time: number): number[] => [...clip.vertices[0]!.sample(time)!];
  const first = [0.25, 0, 0, 1, 0, 0, 0.5, 0, 0];
  const second = [0.25, 0, 0, 1, 0, 0.75, 0.5, 0, 0];
  const third = [0.25, 0, 0, 1, 0, 1.5, 0.5, 0, 0];
  assert.deepEqual(at(0), first);
  assert.deepEqual(at(1), second);
  assert.deepEqual(at(1.5), third);
  assert.deepEqual(at(9), third);
  assert.deepEqual(at(0.5), [0.25, 0, 0, 1, 0, 0.375, 0.5, 0, 0]);
  assert.deepEqual(at(-1), first);
});

test("malformed vertices are refused", () => {
  for (const [change, reason] of [
    [{ fps: 0 }, /fps/],
    [{ order: Uint32Array.of(0, 1, 3) }, /order/],
    [{ order: [0, 1, 2] }, /order/],
    [{ from: Uint32Array.of(3, 3, 3, 2, 3, 3, 2, 0, 4) }, /from/],
    [{ groups: [{ frames: Uint32Array.of(1, 1), exponent: 0, data: new Uint8Array() }] }, /ascending/],
    [{ groups: [{ frames: new Uint32Array(2000), exponent: 0, data: new Uint8Array() }] }, /at most/],
    [{ groups: [{ frames: Uint32Array.of(1), exponent: 0, data: "" }] }, /binary/],
  ] as const) {
    assert.throws(() => readClip(message(track(change))), reason);
  }
  const short = readClip(message(track({ groups: [{ frames: Uint32Array.of(1), exponent: 0, data: packed("1") }] })));
  assert.throws(() => short.vertices[0]!.sample(0), /too early/);
});

function soft(): { tree: Tree; mesh: Mesh; log: Log } {
  const log = new Log();
  console.warn = () => undefined;
  const tree = new Tree(() => undefined);
  const mesh = new Mesh(new BoxGeometry(), new MeshPhongMaterial({ flatShading: true }));
  tree.setObject("/soft", mesh);
  return { tree, mesh, log };
}

test("vertices move with their normals and bounds", () => {
  const { mesh } = soft();
  const moved = positionsOf(mesh)!.map((x) => 10 * x);
  mesh.geometry.computeBoundingBox();
  moveVertices(mesh, moved);
  assert.deepEqual([...positionsOf(mesh)!], [...moved]);
  assert.ok(Math.abs(mesh.geometry.boundingSphere!.radius - 5 * Math.sqrt(3)) < 1e-5);
  assert.equal(mesh.geometry.boundingBox!.max.x, 5);
  const version = (mesh.geometry.getAttribute("position") as any).version;
  assert.ok(version > 0);
  assert.throws(() => moveVertices(mesh, new Float32Array(3)), /24 positions/);
  assert.throws(() => moveVertices(mesh, moved.map(() => NaN)), /finite/);
  assert.throws(() => moveVertices(new Group(), moved), /no vertices/);
  assert.deepEqual([...positionsOf(mesh)!], [...moved]);
});

test("playing moves the vertices, and a reset brings them back", () => {
  const { tree, mesh, log } = soft();
  const before = [...positionsOf(mesh)!];
  const count = before.length / 3;
  const none = Array(3).fill(count) as number[];
  const flat = track({
    order: Uint32Array.from(Array(count).keys()),
    from: Uint32Array.from(Array(count).fill(none).flat()),
    // Five bits of each axis say that all values are zero.
    groups: [{ frames: Uint32Array.of(0), exponent: 0, data: packed("000", "11111", "11111", "11111") }],
  });
  const player = new Player(tree, log, () => undefined);
  player.load(readClip(message(flat)));
  assert.notEqual(player.clip, null);
  player.seek(0);
  assert.deepEqual([...positionsOf(mesh)!], before.map(() => 0));
  player.reset();
  assert.deepEqual([...positionsOf(mesh)!], before);
  assert.deepEqual(log.errors, []);
  // Another mesh has taken the place.
  player.load(readClip(message(track())));
  player.seek(1);
  assert.deepEqual([...positionsOf(mesh)!], before);
  assert.match(log.errors[0]!, /24 positions/);
});
