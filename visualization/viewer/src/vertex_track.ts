// Recorded motion of the vertices of a mesh. README.md describes the encoding.

import { BitReader } from "./bits";
import { array, bytes, type Fields, isMap, number, Refused, string } from "./check";
import type { Value } from "./msgpack";

/** Maximum number of frames of one group; they are decoded together. */
const MOST_FRAMES = 1024;
/** Number of groups whose frames are kept. Interpolation may need two. */
const KEPT = 2;

interface Group {
  /** Index of its first frame. */
  first: number;
  count: number;
  step: number;
  data: Uint8Array;
}

/** Decoder of the frames of one group, one after the other. */
class Decoder {
  readonly frames: Float32Array[] = [];
  private readonly bits: BitReader;
  private last: Int32Array;
  private before: Int32Array;

  constructor(
    readonly group: Group,
    private readonly order: Uint32Array,
    private readonly from: Uint32Array,
  ) {
    this.bits = new BitReader(group.data);
    this.last = new Int32Array(3 * order.length);
    this.before = new Int32Array(3 * order.length);
  }

  /** Decodes the next frame. */
  next(): void {
    const { order, from, bits, last, before } = this;
    const count = order.length;
    const predicted = bits.bits(2);
    const near = bits.bits(1) === 1;
    const now = new Int32Array(3 * count);
    const rest = new Int32Array(count);
    // The last one stands for no vertex.
    const differences = new Int32Array(count + 1);
    for (let axis = 0; axis < 3; axis++) {
      bits.values(rest);
      for (let i = 0; i < count; i++) {
        const vertex = order[i] as number;
        let value = rest[i] as number;
        if (near) {
          const a = differences[from[3 * i] as number] as number;
          const b = differences[from[3 * i + 1] as number] as number;
          const c = differences[from[3 * i + 2] as number] as number;
          value = (value + a + b - c) | 0;
        }
        differences[vertex] = value;
        const at = 3 * vertex + axis;
        const steady = last[at] as number;
        if (predicted === 1) value += steady;
        else if (predicted === 2) value += 2 * steady - (before[at] as number);
        now[at] = value;
      }
    }
    this.before = last;
    this.last = now;
    const { step } = this.group;
    const positions = new Float32Array(now.length);
    for (let i = 0; i < now.length; i++) positions[i] = (now[i] as number) * step;
    this.frames.push(positions);
  }
}

function indices(of: Fields, name: string, length: number, end: number): Uint32Array {
  const value = of[name];
  if (!(value instanceof Uint32Array) || value.length !== length || !value.every((i) => i < end)) {
    throw new Refused(`"${name}" must be ${length} u32 below ${end}`);
  }
  return value;
}

export class VertexTrack {
  private readonly decoders: Decoder[] = [];

  private constructor(
    readonly path: string,
    /** Times of the frames in seconds, ascending. */
    readonly times: number[],
    private readonly groups: Group[],
    private readonly order: Uint32Array,
    private readonly from: Uint32Array,
  ) {}

  /** Reads an element of "vertices" of a `set_animation` message. */
  static read(fields: Value | undefined): VertexTrack {
    if (!isMap(fields)) throw new Refused('"vertices": all elements must be maps');
    const path = string(fields, "path");
    const fps = number(fields, "fps");
    if (!(fps > 0)) throw new Refused(`"fps" of ${path} must be above 0, got ${fps}`);
    const count = fields["order"] instanceof Uint32Array ? fields["order"].length : 0;
    const order = indices(fields, "order", count, count);
    const from = indices(fields, "from", 3 * count, count + 1);
    const times: number[] = [];
    const groups = array(fields, "groups").map((group) => {
      if (!isMap(group)) throw new Refused(`the groups of ${path} must be maps`);
      const frames = group["frames"];
      if (!(frames instanceof Uint32Array) || frames.length > MOST_FRAMES) {
        throw new Refused(`"frames" of ${path} must be at most ${MOST_FRAMES} u32`);
      }
      const first = times.length;
      for (const frame of frames) {
        const time = frame / fps;
        if (time <= (times.at(-1) ?? -1)) throw new Refused(`the frames of ${path} must be in ascending order`);
        times.push(time);
      }
      return { first, count: frames.length, step: 2 ** number(group, "exponent"), data: bytes(group, "data") };
    });
    return new VertexTrack(path, times, groups, order, from);
  }

  /** Returns the positions in frame `index`. */
  private frame(index: number): Float32Array {
    let at = this.decoders.findIndex(({ group }) => index >= group.first && index < group.first + group.count);
    if (at < 0) {
      const group = this.groups.find(({ first, count }) => index >= first && index < first + count) as Group;
      at = this.decoders.push(new Decoder(group, this.order, this.from)) - 1;
      if (this.decoders.length > KEPT) {
        this.decoders.shift();
        at--;
      }
    }
    const decoder = this.decoders[at] as Decoder;
    const wanted = index - decoder.group.first;
    while (decoder.frames.length <= wanted) decoder.next();
    return decoder.frames[wanted] as Float32Array;
  }

  /** Returns the positions at `time`, interpolated between frames; null if there are no frames. */
  sample(time: number): Float32Array | null {
    const { times } = this;
    if (times.length === 0) return null;
    let low = 0;
    let high = times.length;
    // Index of the first frame after `time`.
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((times[middle] as number) <= time) low = middle + 1;
      else high = middle;
    }
    const before = this.frame(Math.max(0, low - 1));
    const start = times[low - 1];
    if (start === undefined || low === times.length) return before;
    const t = (time - start) / ((times[low] as number) - start);
    if (t === 0) return before;
    const after = this.frame(low);
    return before.map((x, i) => x + t * ((after[i] as number) - x));
  }
}
