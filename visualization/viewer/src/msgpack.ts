// MessagePack by @msgpack/msgpack, with the limits of a page that trusts nothing: lengths are
// compared with the available bytes, keys are text, nesting is bounded, and bytes after the value
// are an error. Bytes that are not UTF-8 become some text. Typed arrays arrive as extensions 0x11
// to 0x18.

import { type ExtensionCodecType, decode as decodeAny, encode as encodeAny } from "@msgpack/msgpack";

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

/** The message is not valid MessagePack. */
export class MsgpackError extends Error {}

/** Maximum depth of nesting; three.js's scene descriptions need about ten levels. */
export const MAX_DEPTH = 128;

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

const typedArrays: ExtensionCodecType<undefined> = {
  tryToEncode: () => null,
  decode(data, type) {
    const make = TYPED_ARRAYS[type];
    // Copied, because arrays of wider numbers must start at a multiple of their width.
    const bytes = data.slice();
    if (make === undefined) return bytes;
    try {
      return new make(bytes.buffer as ArrayBuffer);
    } catch {
      throw new MsgpackError(`${data.length} bytes are not a whole number of elements of a typed array (0x${type.toString(16)})`);
    }
  },
};

/** Fails at more than `left` levels of arrays and maps. */
function checkDepth(value: unknown, left: number): void {
  if (left < 0) throw new MsgpackError(`more than ${MAX_DEPTH} levels of nesting`);
  if (Array.isArray(value)) for (const item of value) checkDepth(item, left - 1);
  else if (value !== null && typeof value === "object" && !ArrayBuffer.isView(value)) {
    for (const key in value) checkDepth((value as Record<string, unknown>)[key], left - 1);
  }
}

function textKey(key: unknown): string {
  if (typeof key !== "string") throw new MsgpackError("a key of a map is not a string");
  return key;
}

/** Decodes `bytes` as one value. Binary data are views of `bytes`; typed arrays are copies. */
export function decode(bytes: Uint8Array): Value {
  const most = bytes.length;
  try {
    const value = decodeAny(bytes, {
      extensionCodec: typedArrays,
      mapKeyConverter: textKey,
      maxStrLength: most,
      maxBinLength: most,
      maxArrayLength: most,
      maxMapLength: most,
      maxExtLength: most,
    });
    checkDepth(value, MAX_DEPTH);
    return value as Value;
  } catch (error) {
    if (error instanceof MsgpackError) throw error;
    throw new MsgpackError(`${most} bytes: ${(error as Error).message}`);
  }
}

/** Values that `encode` accepts. */
export type Encodable = null | boolean | number | string | readonly Encodable[] | { readonly [key: string]: Encodable };

/** Encodes `value` as MessagePack in the shortest form. */
export function encode(value: Encodable): Uint8Array<ArrayBuffer> {
  return encodeAny(value) as Uint8Array<ArrayBuffer>;
}
