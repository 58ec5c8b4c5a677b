// MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md), restricted to the needs of
// a scene.
//
// Decoding trusts nothing: every length is compared with the available bytes before anything is
// allocated, nesting is bounded, and bytes after the value are an error. Typed arrays arrive as
// extensions 0x11 to 0x18.

/** A decoded value. */
export type Value =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | TypedArray
  | Value[]
  | { [key: string]: Value };

export type TypedArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array;

/** The message is not valid MessagePack; the text contains the position in bytes. */
export class MsgpackError extends Error {}

/** Maximum depth of nesting; three.js's scene descriptions need about ten levels. */
export const MAX_DEPTH = 128;

const text = new TextDecoder("utf-8", { fatal: true });
const textEncoder = new TextEncoder();

type TypedArrayOf = new (buffer: ArrayBuffer) => TypedArray;

const TYPED_ARRAYS: Record<number, TypedArrayOf> = {
  0x11: Int8Array,
  0x12: Uint8Array,
  0x13: Int16Array,
  0x14: Uint16Array,
  0x15: Int32Array,
  0x16: Uint32Array,
  0x17: Float32Array,
  0x18: Float64Array,
};

class Reader {
  private at = 0;
  private readonly view: DataView;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  fail(what: string): never {
    throw new MsgpackError(`byte ${this.at} of ${this.bytes.length}: ${what}`);
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  /** Returns the position of the next `count` bytes and advances past them; fails if there are
   * fewer. */
  private take(count: number): number {
    if (count > this.left) this.fail(`${count} bytes must follow, got ${this.left}`);
    const start = this.at;
    this.at += count;
    return start;
  }

  private unsigned(width: 1 | 2 | 4): number {
    const start = this.take(width);
    if (width === 1) return this.view.getUint8(start);
    return width === 2 ? this.view.getUint16(start) : this.view.getUint32(start);
  }

  value(depth: number): Value {
    if (depth > MAX_DEPTH) this.fail(`more than ${MAX_DEPTH} levels of nesting`);
    const tag = this.unsigned(1);
    if (tag < 0x80) return tag;
    if (tag < 0x90) return this.map(tag & 0x0f, depth);
    if (tag < 0xa0) return this.array(tag & 0x0f, depth);
    if (tag < 0xc0) return this.string(tag & 0x1f);
    if (tag >= 0xe0) return tag - 0x100;
    switch (tag) {
      case 0xc0: return null;
      case 0xc2: return false;
      case 0xc3: return true;
      case 0xc4: return this.binary(this.unsigned(1));
      case 0xc5: return this.binary(this.unsigned(2));
      case 0xc6: return this.binary(this.unsigned(4));
      case 0xc7: return this.extension(this.unsigned(1));
      case 0xc8: return this.extension(this.unsigned(2));
      case 0xc9: return this.extension(this.unsigned(4));
      case 0xca: return this.view.getFloat32(this.take(4));
      case 0xcb: return this.view.getFloat64(this.take(8));
      case 0xcc: return this.unsigned(1);
      case 0xcd: return this.unsigned(2);
      case 0xce: return this.unsigned(4);
      // 64-bit integers become doubles: a scene needs no more than 53 bits.
      case 0xcf: return Number(this.view.getBigUint64(this.take(8)));
      case 0xd0: return this.view.getInt8(this.take(1));
      case 0xd1: return this.view.getInt16(this.take(2));
      case 0xd2: return this.view.getInt32(this.take(4));
      case 0xd3: return Number(this.view.getBigInt64(this.take(8)));
      case 0xd4: return this.extension(1);
      case 0xd5: return this.extension(2);
      case 0xd6: return this.extension(4);
      case 0xd7: return this.extension(8);
      case 0xd8: return this.extension(16);
      case 0xd9: return this.string(this.unsigned(1));
      case 0xda: return this.string(this.unsigned(2));
      case 0xdb: return this.string(this.unsigned(4));
      case 0xdc: return this.array(this.unsigned(2), depth);
      case 0xdd: return this.array(this.unsigned(4), depth);
      case 0xde: return this.map(this.unsigned(2), depth);
      case 0xdf: return this.map(this.unsigned(4), depth);
      default: return this.fail(`0x${tag.toString(16)} does not begin a value`);
    }
  }

  private string(length: number): string {
    const start = this.take(length);
    try {
      return text.decode(this.bytes.subarray(start, start + length));
    } catch {
      return this.fail("a string is not UTF-8");
    }
  }

  private binary(length: number): Uint8Array {
    const start = this.take(length);
    return this.bytes.subarray(start, start + length);
  }

  private extension(length: number): Value {
    const type = this.unsigned(1);
    const start = this.take(length);
    const make = TYPED_ARRAYS[type];
    // Copied, because arrays of wider numbers must start at a multiple of their width.
    const bytes = this.bytes.slice(start, start + length);
    if (make === undefined) return bytes;
    try {
      return new make(bytes.buffer as ArrayBuffer);
    } catch {
      return this.fail(`${length} bytes are not a whole number of elements of a typed array (0x${type.toString(16)})`);
    }
  }

  private array(count: number, depth: number): Value[] {
    // Each element takes at least one byte, so a false length costs nothing.
    if (count > this.left) this.fail(`an array of ${count} elements must have a byte for each, got ${this.left} bytes`);
    const out: Value[] = [];
    for (let i = 0; i < count; i++) out.push(this.value(depth + 1));
    return out;
  }

  private map(count: number, depth: number): { [key: string]: Value } {
    if (2 * count > this.left) this.fail(`a map of ${count} entries must have two bytes for each, got ${this.left} bytes`);
    const out: { [key: string]: Value } = {};
    for (let i = 0; i < count; i++) {
      const key = this.value(depth + 1);
      if (typeof key !== "string") this.fail("a key of a map is not a string");
      // This key would change the prototype of the object.
      if (key === "__proto__") this.fail('a map has the key "__proto__"');
      out[key] = this.value(depth + 1);
    }
    return out;
  }
}

/** Decodes `bytes` as one value. Binary data are views of `bytes`; typed arrays are copies. */
export function decode(bytes: Uint8Array): Value {
  const reader = new Reader(bytes);
  const value = reader.value(0);
  if (reader.left > 0) reader.fail("the message must end here, got more bytes");
  return value;
}

/** Values that `encode` accepts. */
export type Encodable = null | boolean | number | string | readonly Encodable[] | { readonly [key: string]: Encodable };

class Writer {
  private bytes = new Uint8Array(256);
  private at = 0;

  private room(count: number): DataView {
    if (this.at + count > this.bytes.length) {
      const wider = new Uint8Array(2 * this.bytes.length + count);
      wider.set(this.bytes.subarray(0, this.at));
      this.bytes = wider;
    }
    return new DataView(this.bytes.buffer, this.at);
  }

  private put(tag: number, width = 0, set?: (view: DataView) => void): void {
    const view = this.room(1 + width);
    view.setUint8(0, tag);
    set?.(view);
    this.at += 1 + width;
  }

  /** Writes a length in its shortest form: in the tag if below `small`, then 8 (if available), 16
   * and 32 bits. */
  private length(length: number, fix: number, small: number, wide8: number | null, wide16: number): void {
    if (length < small) this.put(fix | length);
    else if (wide8 !== null && length < 0x100) this.put(wide8, 1, (v) => v.setUint8(1, length));
    else if (length < 0x10000) this.put(wide16, 2, (v) => v.setUint16(1, length));
    else this.put(wide16 + 1, 4, (v) => v.setUint32(1, length));
  }

  private number(x: number): void {
    if (!Number.isInteger(x) || x < -0x80000000 || x > 0xffffffff) this.put(0xcb, 8, (v) => v.setFloat64(1, x));
    else if (x >= 0 && x < 0x80) this.put(x);
    else if (x < 0 && x >= -0x20) this.put(x + 0x100);
    else if (x >= 0 && x < 0x100) this.put(0xcc, 1, (v) => v.setUint8(1, x));
    else if (x >= 0 && x < 0x10000) this.put(0xcd, 2, (v) => v.setUint16(1, x));
    else if (x >= 0) this.put(0xce, 4, (v) => v.setUint32(1, x));
    else if (x >= -0x80) this.put(0xd0, 1, (v) => v.setInt8(1, x));
    else if (x >= -0x8000) this.put(0xd1, 2, (v) => v.setInt16(1, x));
    else this.put(0xd2, 4, (v) => v.setInt32(1, x));
  }

  value(value: Encodable): void {
    if (value === null) this.put(0xc0);
    else if (typeof value === "boolean") this.put(value ? 0xc3 : 0xc2);
    else if (typeof value === "number") this.number(value);
    else if (typeof value === "string") {
      const utf8 = textEncoder.encode(value);
      this.length(utf8.length, 0xa0, 0x20, 0xd9, 0xda);
      this.room(utf8.length);
      this.bytes.set(utf8, this.at);
      this.at += utf8.length;
    } else if (Array.isArray(value)) {
      this.length(value.length, 0x90, 0x10, null, 0xdc);
      for (const item of value) this.value(item);
    } else {
      const entries = Object.entries(value);
      this.length(entries.length, 0x80, 0x10, null, 0xde);
      for (const [key, item] of entries) {
        this.value(key);
        this.value(item);
      }
    }
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.at);
  }
}

/** Encodes `value` as MessagePack in the shortest form; whole numbers of up to 32 bits become
 * integers. */
export function encode(value: Encodable): Uint8Array<ArrayBuffer> {
  const writer = new Writer();
  writer.value(value);
  return writer.finish();
}
