import assert from "node:assert/strict";
import { test } from "node:test";

import { Batches } from "../src/batch";
import { socketUrl } from "../src/connection";
import { decode, encode } from "../src/msgpack";
import { names, normal } from "../src/paths";
import { LOOP_ONCE, LOOP_PING_PONG, LOOP_REPEAT, position, readClip, sample, slerp } from "../src/playback";
import { digits, snap, stepOf, steps, valueOf } from "../src/slider";
import { split } from "../src/static";
import { activity } from "../src/stats";
import { captured } from "./captured";

const close = (a: number[], b: number[], tolerance = 1e-12): void => {
  assert.equal(a.length, b.length);
  a.forEach((x, i) => assert.ok(Math.abs(x - (b[i] as number)) <= tolerance, `${a} is not ${b}`));
};

test("a page is idle only once everything is loaded", () => {
  assert.equal(activity(3, 0), "loading 3");
  assert.equal(activity(1, 60), "loading 1");
  assert.equal(activity(0, 60), "60 fps");
  assert.equal(activity(0, 0), "idle");
});

test("paths are normalized", () => {
  assert.deepEqual(names("/a//b/"), ["a", "b"]);
  assert.equal(normal("a/b/"), "/a/b");
  assert.equal(normal("/"), "");
  assert.equal(normal("/Render Settings/<object>"), "/Render Settings/<object>");
});

test("slider values stay on their grid", () => {
  const range = { min: -1, max: 1, step: 0.1 };
  assert.equal(steps(range), 20);
  // Bit for bit as on the server.
  assert.equal(snap(range, 0.34), 3 * 0.1);
  // Ties in decimals, whose quotients are rounded.
  assert.deepEqual([0.15, -0.15, 0.25].map((x) => snap(range, x)), [0.2, -0.2, 3 * 0.1]);
  assert.equal(snap(range, 7), 1);
  assert.equal(snap(range, -7), -1);
  assert.equal(snap(range, NaN), -1);
  // Ends of the range that are not multiples of the step are allowed, too.
  const uneven = { min: 0, max: 1, step: 0.4 };
  assert.equal(steps(uneven), 3);
  assert.equal(snap(uneven, 1), 1);
  assert.equal(snap(uneven, 0.85), 0.8);
  const pi = { min: -Math.PI, max: Math.PI, step: 0.01 };
  assert.deepEqual([-9, -3.14, 0.001, 0.5, 9].map((x) => snap(pi, x)), [-Math.PI, -3.14, 0, 0.5, Math.PI]);
  assert.equal(steps(pi), 630);
  assert.equal(stepOf(uneven, 0.59), 1);
  assert.equal(steps({ min: 2, max: 2, step: 1 }), 0);
  for (let k = 0; k <= 20; k++) assert.equal(stepOf(range, valueOf(range, k)), k);
  // Value that Drake's page sent after one step up from 0.5.
  assert.equal(valueOf({ min: 0, max: 1, step: 0.1 }, 6), 0.6000000000000001);
});

test("ties between slider values go away from zero, also below zero", () => {
  // `Math.round(-0.5)` is -0.
  const wide = { min: -1, max: 1, step: 2 };
  assert.deepEqual([0, 1, 2].map((k) => valueOf(wide, k)), [-1, 0, 1]);
  assert.deepEqual([-1, -0.5, -0.25, 0.5, 0.75].map((x) => snap(wide, x)), [-1, -1, 0, 1, 1]);
  assert.equal(snap({ min: -9, max: 9, step: 1 }, -2.5), -3);
  const halves = { min: 0.5, max: 3.5, step: 1 };
  assert.deepEqual([0.5, 0.7, 0.75, 3.2, 3.25].map((x) => snap(halves, x)), [0.5, 0.5, 1, 3, 3.5]);
  // A step that no handle could count leaves the ends.
  assert.equal(steps({ min: 0, max: 1, step: 1e-320 }), 1);
});

test("digits distinguish the values of a slider", () => {
  assert.equal(digits({ min: 0, max: 1, step: 0.01 }, 0.5), 2);
  assert.equal(digits({ min: 0, max: 1, step: 1e-3 }, 1), 3);
  assert.equal(digits({ min: -1.25, max: 1, step: 0.5 }, -1.25), 2);
  assert.equal(digits({ min: -1.25, max: 1, step: 0.5 }, 0.5), 1);
  assert.equal(digits({ min: 0, max: 0.785, step: 0.01 }, 0.785), 3);
  assert.equal(digits({ min: 0, max: Math.PI, step: 0.01 }, Math.PI), 6);
  assert.equal(digits({ min: 0, max: 10, step: 1 }, 10), 0);
  assert.equal(digits({ min: 0, max: 1, step: 1e-9 }, 0), 6);
});

function clipOf(tracks: object[], options: object = {}, fps = 10) {
  return readClip({ animations: [{ path: "/a", clip: { fps, name: "default", tracks } }], options } as never);
}

const key = (time: number, value: unknown) => ({ time, value });

test("tracks are sampled between, on, before and after their keys", () => {
  const clip = clipOf([
    { name: ".position", type: "vector3", keys: [key(20, [2, 4, 6]), key(10, [0, 0, 0])] },
    { name: ".visible", type: "boolean", keys: [key(0, false), key(10, true)] },
    { name: ".material.opacity", type: "number", keys: [key(0, 1), key(40, 0)] },
    { name: ".scale", type: "vector", keys: [key(5, [1, 1])] },
  ]);
  const [place, visible, opacity, scale] = clip.tracks as [any, any, any, any];
  assert.equal(clip.duration, 4);
  assert.equal(opacity.property, "material.opacity");
  close(sample(place, 0) as number[], [0, 0, 0]);
  close(sample(place, 1.5) as number[], [1, 2, 3]);
  close(sample(place, 9) as number[], [2, 4, 6]);
  assert.deepEqual([0, 0.999, 1, 5].map((t) => sample(visible, t)), [false, false, true, true]);
  assert.equal(sample(opacity, 1), 0.75);
  assert.deepEqual(sample(scale, 3), [1, 1]);
});

test("rotations take the shorter arc and stay unit quaternions", () => {
  const half = Math.SQRT1_2;
  // From no rotation to 90 degrees about z: half way is 45 degrees.
  const expected = [0, 0, Math.sin(Math.PI / 8), Math.cos(Math.PI / 8)];
  close(slerp([0, 0, 0, 1], [0, 0, half, half], 0.5), expected);
  // The opposite sign is the same rotation.
  close(slerp([0, 0, 0, 1], [0, 0, -half, -half], 0.5), expected);
  close(slerp([0, 0, 0, 1], [0, 0, 0, 1], 0.3), [0, 0, 0, 1]);
  close(slerp([0, 0, 0, 1], [1e-6, 0, 0, 1], 0.5), [5e-7, 0, 0, 1], 1e-12);
});

test("the position in a clip follows its loop mode and repetitions", () => {
  const tracks = [{ name: ".x", type: "number", keys: [key(0, 0), key(20, 1)] }];
  const at = (loopMode: number, repetitions: number, elapsed: number) => {
    const { time, finished } = position(clipOf(tracks, { loopMode, repetitions }), elapsed);
    return [time, finished];
  };
  assert.deepEqual(at(LOOP_ONCE, 5, 1.5), [1.5, false]);
  assert.deepEqual(at(LOOP_ONCE, 5, 2), [2, true]);
  assert.deepEqual(at(LOOP_REPEAT, 3, 2.5), [0.5, false]);
  assert.deepEqual(at(LOOP_REPEAT, 3, 6), [2, true]);
  assert.deepEqual(at(LOOP_PING_PONG, 2, 2.5), [1.5, false]);
  // Two passes, forwards and backwards, end at the start; three passes end at the end.
  assert.deepEqual(at(LOOP_PING_PONG, 2, 4), [0, true]);
  assert.deepEqual(at(LOOP_PING_PONG, 3, 6), [2, true]);
  assert.deepEqual(position(clipOf([]), 1), { time: 0, finished: true });
});

test("options have Drake's defaults", () => {
  const { play, loopMode, repetitions, clampWhenFinished } = clipOf([]);
  assert.deepEqual([play, loopMode, repetitions, clampWhenFinished], [true, LOOP_REPEAT, 1, true]);
});

test("invalid animations are refused with the name of the track", () => {
  const bad: [object, RegExp][] = [
    [{ name: ".x", type: "matrix", keys: [] }, /got type "matrix"/],
    [{ name: "x", type: "number", keys: [] }, /begins with "\."/],
    [{ name: ".x", type: "number", keys: [key(0, "a")] }, /must have a value of type number/],
    [{ name: ".x", type: "boolean", keys: [key(0, 1)] }, /must have a value of type boolean/],
    [{ name: ".x", type: "vector", keys: [key(0, [1]), key(1, [1, 2])] }, /must have the same length/],
    [{ name: ".x", type: "quaternion", keys: [key(0, [1, 0, 0])] }, /must have the same length/],
    [{ name: ".x", type: "number", keys: [key(NaN, 1)] }, /"time"/],
  ];
  for (const [track, message] of bad) assert.throws(() => clipOf([track]), { message });
  assert.throws(() => clipOf([], {}, 0), /"fps" of \/a/);
});

test("recorded animations are read", { skip: captured() === null }, () => {
  const read = captured()!.filter((m) => m.stage === "SetAnimation" || m.stage === "PublishRecording");
  const clips = read.map((m) => readClip(decode(m.bytes) as never));
  assert.deepEqual(clips.map((clip) => [clip.tracks.length, clip.duration, clip.loopMode, clip.repetitions, clip.play]), [
    [5, 0.75, LOOP_REPEAT, 1, true],
    [5, 1.25, LOOP_PING_PONG, 3, false],
  ]);
});

/** Returns a message with `ids` and `poses` as they arrive: at odd offsets of one buffer. */
function batch(ids: number[], poses: number[], cut = 0) {
  const idBytes = new Uint8Array(new Uint32Array(ids).buffer);
  const poseBytes = new Uint8Array(new Float64Array(poses).buffer);
  const whole = new Uint8Array(1 + idBytes.length + poseBytes.length);
  whole.set(idBytes, 1);
  whole.set(poseBytes, 1 + idBytes.length);
  return { ids: whole.subarray(1, 1 + idBytes.length), poses: whole.subarray(1 + idBytes.length, whole.length - cut) };
}

test("batches set the poses of numbered paths", () => {
  const batches = new Batches();
  batches.setPaths({ first: 0, paths: ["/a", "/b"] });
  batches.setPaths({ first: 5, paths: ["/f"] });
  const seen: [string, number[]][] = [];
  const see = (path: string, pose: Float64Array): void => void seen.push([path, [...pose]]);
  const pose = [0, 0, 0, 1, 1, 2, 3];
  // The number 3 was never assigned.
  batches.setTransforms(batch([5, 3, 0], [...pose, ...pose, 0.5, 0.5, 0.5, 0.5, -1, 0, 1e-300]), see);
  assert.deepEqual(seen, [["/f", pose], ["/a", [0.5, 0.5, 0.5, 0.5, -1, 0, 1e-300]]]);
  batches.clear();
  batches.setTransforms(batch([0], pose), () => assert.fail("forgotten"));
});

test("invalid batches are refused", () => {
  const batches = new Batches();
  batches.setPaths({ first: 0, paths: ["/a"] });
  const pose = [0, 0, 0, 1, 0, 0, 0];
  const none = (): void => undefined;
  assert.throws(() => batches.setTransforms(batch([0], pose, 1), none), /56 bytes for 1 ids, got 55/);
  assert.throws(() => batches.setTransforms({ ids: new Uint8Array(3), poses: new Uint8Array(0) }, none), /whole number of u32, got 3 bytes/);
  assert.throws(() => batches.setTransforms(batch([0], [NaN, ...pose.slice(1)]), none), /not finite/);
  assert.throws(() => batches.setTransforms({ ids: "x" } as never, none), /"ids" must be binary data, got "x"/);
  assert.throws(() => batches.setPaths({ first: -1, paths: [] }), /"first"/);
  assert.throws(() => batches.setPaths({ first: 1e12, paths: ["/x"] }), /"first"/);
  assert.throws(() => batches.setPaths({ first: 0, paths: [1] }), /element 0 is not a string/);
});

test("a batch survives MessagePack", () => {
  const message = decode(encode({ type: "set_paths", first: 2, paths: ["/x"] })) as never;
  const batches = new Batches();
  batches.setPaths(message);
  let count = 0;
  batches.setTransforms(batch([2], [0, 0, 0, 1, 0, 0, 0]), () => count++);
  assert.equal(count, 1);
});

test("the websocket has the address of the page", () => {
  assert.equal(socketUrl({ protocol: "http:", host: "localhost:7000", pathname: "/" }), "ws://localhost:7000/?batch=1");
  assert.equal(socketUrl({ protocol: "https:", host: "x.org", pathname: "/sim/7/" }), "wss://x.org/sim/7/?batch=1");
});

test("the messages of a static page are split by their lengths", () => {
  const bytes = new Uint8Array([1, 0, 0, 0, 7, 0, 0, 0, 0, 2, 0, 0, 0, 8, 9]);
  assert.deepEqual(split(bytes).map((m) => [...m]), [[7], [], [8, 9]]);
  assert.throws(() => split(bytes.subarray(0, 14)), /ends within message 2/);
  assert.throws(() => split(bytes.subarray(0, 3)), /ends within message 0/);
});
