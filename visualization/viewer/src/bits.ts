// Whole numbers as bits: adaptive Golomb-Rice codes. README.md describes them.

import { Refused } from "./check";

const BLOCK = 128;
const PARAMETER = 5;
const ZEROS = 31;
const ESCAPE = 24;

export class BitReader {
  /** Number of bits that were read. */
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  /** Reads a whole number of at most 32 bits. */
  bits(count: number): number {
    let value = 0;
    for (let done = 0; done < count; ) {
      const byte = this.bytes[this.at >> 3];
      if (byte === undefined) throw new Refused("the data of a group of frames end too early");
      const shift = this.at & 7;
      const take = Math.min(8 - shift, count - done);
      value |= ((byte >> shift) & ((1 << take) - 1)) << done;
      done += take;
      this.at += take;
    }
    return value >>> 0;
  }

  /** Fills `values` with signed values. */
  values(values: Int32Array): void {
    for (let start = 0; start < values.length; start += BLOCK) {
      const end = Math.min(start + BLOCK, values.length);
      const parameter = this.bits(PARAMETER);
      if (parameter === ZEROS) {
        values.fill(0, start, end);
        continue;
      }
      for (let i = start; i < end; i++) {
        let high = 0;
        while (high < ESCAPE && this.bits(1) === 1) high++;
        const folded = high === ESCAPE ? this.bits(32) : ((high << parameter) | this.bits(parameter)) >>> 0;
        values[i] = (folded >>> 1) ^ -(folded & 1);
      }
    }
  }
}
