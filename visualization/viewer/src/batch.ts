// Many transforms in one message, and the numbers assigned to their paths. Our own server sends
// these messages to pages that request them by "?batch=1".

import { array, bytes, number, type Fields, Refused } from "./check";

/** Maximum number of numbered paths; more would be a mistake of the sender. */
const MOST_PATHS = 1 << 22;

export class Batches {
  private paths: (string | undefined)[] = [];

  /** `{first, paths}`: assigns the number first + i to paths[i]. */
  setPaths(message: Fields): void {
    const first = number(message, "first");
    const list = array(message, "paths");
    if (!Number.isInteger(first) || first < 0 || first + list.length > MOST_PATHS) {
      throw new Refused(`"first" must be a whole number from 0 to ${MOST_PATHS} less the number of paths, got ${first}`);
    }
    const texts = list.map((path, i) => {
      if (typeof path !== "string") throw new Refused(`"paths": element ${i} is not a string`);
      return path;
    });
    for (let i = 0; i < texts.length; i++) this.paths[first + i] = texts[i];
  }

  /** `{ids, poses}`: calls `apply` for each id with an assigned path, with its quaternion (x, y, z,
   * w) and position in `pose`, which is reused. Ids are u32, poses seven f64 each, both
   * little-endian and at any alignment. */
  setTransforms(message: Fields, apply: (path: string, pose: Float64Array) => void): void {
    const ids = bytes(message, "ids");
    const poses = bytes(message, "poses");
    const count = ids.byteLength / 4;
    if (!Number.isInteger(count)) throw new Refused(`"ids" must be a whole number of u32, got ${ids.byteLength} bytes`);
    if (poses.byteLength !== 56 * count) {
      throw new Refused(`"poses" must have ${56 * count} bytes for ${count} ids, got ${poses.byteLength}`);
    }
    const id = new DataView(ids.buffer, ids.byteOffset, ids.byteLength);
    const data = new DataView(poses.buffer, poses.byteOffset, poses.byteLength);
    const pose = new Float64Array(7);
    for (let i = 0; i < count; i++) {
      const path = this.paths[id.getUint32(4 * i, true)];
      if (path === undefined) continue;
      let finite = true;
      for (let k = 0; k < 7; k++) {
        const x = data.getFloat64(56 * i + 8 * k, true);
        pose[k] = x;
        finite &&= Number.isFinite(x);
      }
      if (!finite) throw new Refused(`"poses": the pose of ${path} is not finite`);
      apply(path, pose);
    }
  }

  /** Forgets all numbers, as for a new connection. */
  clear(): void {
    this.paths = [];
  }
}
