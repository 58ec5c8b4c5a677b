// Animations as numbers: values between keys, and the position in a clip after a time of playback.

import { array, asNumbers, boolean, booleanOr, type Fields, isMap, map, number, numberOr, Refused, string } from "./check";
import { VertexTrack } from "./vertex_track";

/** Interpolation between the keys of a track: stepwise, linear, or along the shortest rotation. */
export type Interpolation = "step" | "linear" | "rotation";

export type Sample = boolean | number | number[];

export interface Track {
  path: string;
  property: string;
  interpolation: Interpolation;
  /** Key times in seconds, ascending. */
  times: number[];
  values: Sample[];
}

/** Loop modes, numbered as in three.js. */
export const LOOP_ONCE = 2200;
export const LOOP_REPEAT = 2201;
export const LOOP_PING_PONG = 2202;

export interface Clip {
  tracks: Track[];
  vertices: VertexTrack[];
  /** Length of the longest track, in seconds. */
  duration: number;
  play: boolean;
  loopMode: number;
  repetitions: number;
  clampWhenFinished: boolean;
}

const INTERPOLATION: Record<string, Interpolation> = {
  boolean: "step",
  number: "linear",
  vector: "linear",
  vector3: "linear",
  quaternion: "rotation",
};

function readTrack(path: string, fps: number, track: Fields): Track | null {
  const name = string(track, "name");
  const kind = string(track, "type");
  const interpolation = INTERPOLATION[kind];
  if (interpolation === undefined || !name.startsWith(".")) {
    throw new Refused(`track "${name}" of ${path} must have a known type and a name that begins with ".", got type "${kind}"`);
  }
  const keys = array(track, "keys").map((key, i) => {
    if (!isMap(key)) throw new Refused(`key ${i} of track "${name}" of ${path} must be a map`);
    const raw = key["value"];
    const value = typeof raw === "boolean" || typeof raw === "number" ? raw : asNumbers(raw);
    if (value === null || (kind === "boolean") !== (typeof value === "boolean")) {
      throw new Refused(`key ${i} of track "${name}" of ${path} must have a value of type ${kind}`);
    }
    return { time: number(key, "time") / fps, value };
  });
  keys.sort((a, b) => a.time - b.time);
  const first = keys[0];
  if (first === undefined) return null;
  const width = (value: Sample): number => (Array.isArray(value) ? value.length : -1);
  const expected = kind === "quaternion" ? 4 : kind === "vector3" ? 3 : width(first.value);
  if (keys.some((key) => width(key.value) !== expected)) {
    throw new Refused(`the values of track "${name}" of ${path} must have the same length, that of type ${kind}`);
  }
  return {
    path,
    property: name.slice(1),
    interpolation,
    times: keys.map((key) => key.time),
    values: keys.map((key) => key.value),
  };
}

/** Reads the clip of a `set_animation` message. */
export function readClip(message: Fields): Clip {
  const tracks: Track[] = [];
  for (const entry of array(message, "animations")) {
    if (!isMap(entry)) throw new Refused('"animations": all elements must be maps');
    const path = string(entry, "path");
    const clip = map(entry, "clip");
    const fps = number(clip, "fps");
    if (!(fps > 0)) throw new Refused(`"fps" of ${path} must be above 0, got ${fps}`);
    for (const track of array(clip, "tracks")) {
      if (!isMap(track)) throw new Refused(`the tracks of ${path} must be maps`);
      const read = readTrack(path, fps, track);
      if (read !== null) tracks.push(read);
    }
  }
  const vertices = Object.hasOwn(message, "vertices") ? array(message, "vertices").map(VertexTrack.read) : [];
  const options = isMap(message["options"]) ? message["options"] : {};
  const duration = [...tracks, ...vertices].reduce((most, track) => Math.max(most, track.times.at(-1) ?? 0), 0);
  return {
    tracks,
    vertices,
    duration,
    play: "play" in options ? boolean(options, "play") : true,
    loopMode: numberOr(options, "loopMode", LOOP_REPEAT),
    repetitions: Math.max(1, Math.floor(numberOr(options, "repetitions", 1))),
    clampWhenFinished: booleanOr(options, "clampWhenFinished", true),
  };
}

/** Spherical interpolation along the shorter arc (Shoemake 1985); both ends must have unit length.
 */
export function slerp(a: number[], b: number[], t: number): number[] {
  let dot = a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);
  const sign = dot < 0 ? -1 : 1;
  dot = Math.min(1, dot * sign);
  const angle = Math.acos(dot);
  // Below this angle, the sines lose more precision than linear interpolation does.
  const near = angle < 1e-4;
  const wa = near ? 1 - t : Math.sin((1 - t) * angle) / Math.sin(angle);
  const wb = sign * (near ? t : Math.sin(t * angle) / Math.sin(angle));
  const out = a.map((x, i) => wa * x + wb * (b[i] ?? 0));
  const norm = Math.hypot(...out);
  return out.map((x) => x / norm);
}

/** Returns the value of a track at `time`. Before the first and after the last key it is the value
 * of that key. */
export function sample(track: Track, time: number): Sample {
  const { times, values } = track;
  let low = 0;
  let high = times.length;
  // Index of the first key after `time`.
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  const before = values[Math.max(0, low - 1)] as Sample;
  const after = values[low];
  if (low === 0 || after === undefined || track.interpolation === "step") return before;
  const start = times[low - 1] as number;
  const t = (time - start) / ((times[low] as number) - start);
  if (typeof before === "number" && typeof after === "number") return before + t * (after - before);
  if (Array.isArray(before) && Array.isArray(after)) {
    if (track.interpolation === "rotation") return slerp(before, after, t);
    return before.map((x, i) => x + t * ((after[i] as number) - x));
  }
  return before;
}

/** Returns the time within a clip after `elapsed` seconds of playback, and whether playback has
 * finished. */
export function position(clip: Clip, elapsed: number): { time: number; finished: boolean } {
  const { duration, loopMode } = clip;
  const passes = loopMode === LOOP_ONCE ? 1 : clip.repetitions;
  if (duration <= 0) return { time: 0, finished: true };
  const pingPong = loopMode === LOOP_PING_PONG;
  if (elapsed >= passes * duration) {
    return { time: pingPong && passes % 2 === 0 ? 0 : duration, finished: true };
  }
  const pass = Math.floor(elapsed / duration);
  const within = elapsed - pass * duration;
  return { time: pingPong && pass % 2 === 1 ? duration - within : within, finished: false };
}
