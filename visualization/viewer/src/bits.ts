// Whole numbers as bits: adaptive Golomb-Rice codes. README.md describes them.

import { Refused } from "./check";

const BLOCK = 128;
const PARAMETER = 5;
const ZEROS = 31;
const ESCAPE = 24;

export class BitReader {
  /** Number of bits. */
  private readonly end: number;
  /** Number of bits that were read. */
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {
    this.end = 8 * bytes.length;
  }

  /** Moves on to bit `at`, which must not be after the end. */
  private move(at: number): void {
    if (at > this.end) throw new Refused("the data of a group of frames end too early");
    this.at = at;
  }

  /** Reads a whole number of at most 32 bits. */
  bits(count: number): number {
    const found = peek(this.bytes, this.at) & mask(count);
    this.move(this.at + count);
    return found >>> 0;
  }

  /** Fills `values` with signed values. */
  values(values: Int32Array): void {
    const { bytes, end } = this;
    for (let start = 0; start < values.length; start += BLOCK) {
      const stop = Math.min(start + BLOCK, values.length);
      const parameter = this.bits(PARAMETER);
      if (parameter === ZEROS) {
        values.fill(0, start, stop);
        continue;
      }
      const low = mask(parameter);
      let { at } = this;
      for (let i = start; i < stop && at <= end; i++) {
        const next = peek(bytes, at);
        const ones = trailingOnes(next);
        let folded: number;
        if (ones < ESCAPE) {
          at += ones + 1;
          folded = (ones << parameter) | (peek(bytes, at) & low);
          at += parameter;
        } else {
          at += ESCAPE;
          folded = peek(bytes, at);
          at += 32;
        }
        values[i] = (folded >>> 1) ^ -(folded & 1);
      }
      this.move(at);
    }
  }
}

/** Returns the lowest `count` bits, all set. */
function mask(count: number): number {
  return count === 32 ? -1 : (1 << count) - 1;
}

/** Returns the 32 bits from bit `at` on; those after the end are zeros. */
function peek(bytes: Uint8Array, at: number): number {
  const i = at >> 3;
  const shift = at & 7;
  const four = byte(bytes, i) | (byte(bytes, i + 1) << 8) | (byte(bytes, i + 2) << 16) | (byte(bytes, i + 3) << 24);
  return shift === 0 ? four : (four >>> shift) | (byte(bytes, i + 4) << (32 - shift));
}

function byte(bytes: Uint8Array, i: number): number {
  return bytes[i] ?? 0;
}

/** Returns the number of ones before the lowest zero. */
function trailingOnes(x: number): number {
  return x === -1 ? 32 : 31 - Math.clz32(~x & (x + 1));
}
