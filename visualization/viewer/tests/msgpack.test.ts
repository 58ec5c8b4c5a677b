import assert from "node:assert/strict";
import { test } from "node:test";

import { decode, encode, MAX_DEPTH, MsgpackError, type Value } from "../src/msgpack";
import { asJson, captured, json } from "./captured";

const skip = captured() === null ? "the captures are not next to the repository" : false;
const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(" ", ""), "hex"));

/** Compares a decoded value with its form in the recordings: typed arrays by type, length and first
 * elements, long strings truncated. */
function same(value: Value, expected: any, where: string): void {
  if (expected !== null && typeof expected === "object" && "__ext__" in expected) {
    assert.ok(ArrayBuffer.isView(value), where);
    const list = value as Float32Array;
    assert.equal(list.length, expected.len, where);
    assert.equal(list.byteLength, expected.nbytes, where);
    expected.head.forEach((x: number, i: number) => assert.equal(list[i], Math.fround(x), `${where}[${i}]`));
  } else if (Array.isArray(expected)) {
    assert.ok(Array.isArray(value), where);
    assert.equal(value.length, expected.length, where);
    expected.forEach((item, i) => same(value[i] as Value, item, `${where}[${i}]`));
  } else if (expected !== null && typeof expected === "object") {
    assert.deepEqual(Object.keys(value as object), Object.keys(expected), where);
    for (const key of Object.keys(expected)) same((value as any)[key], expected[key], `${where}.${key}`);
  } else if (typeof expected === "string" && expected.includes("...(")) {
    assert.ok((value as string).startsWith(expected.slice(0, expected.indexOf("...("))), where);
  } else assert.ok(value === expected || (value === 0 && expected === 0), `${where}: ${value} is not ${expected}`);
}

test("every recorded message decodes to its recorded content", { skip }, () => {
  const expected = asJson();
  const messages = captured()!;
  assert.equal(messages.length, expected.length);
  messages.forEach(({ bytes, index }, i) => {
    assert.equal(expected[i].i, index);
    same(decode(bytes), expected[i].msg, `message ${index}`);
  });
});

test("a recorded message truncated anywhere is an error", { skip }, () => {
  for (const { bytes } of captured()!.slice(0, 20)) {
    for (let length = 0; length < bytes.length; length += 7) {
      assert.throws(() => decode(bytes.subarray(0, length)), MsgpackError);
    }
  }
});

test("messages of the page equal those of Drake's page", { skip }, () => {
  const sent = json("browser_to_server.json").filter((entry: any) => "msg" in entry);
  assert.equal(sent.length, 11);
  for (const { msg, bin_hex } of sent) assert.equal(Buffer.from(encode(msg)).toString("hex"), bin_hex);
});

test("values of every form are decoded", () => {
  const forms: [string, Value][] = [
    ["c0", null], ["c2", false], ["c3", true], ["00", 0], ["7f", 127], ["ff", -1], ["e0", -32],
    ["cc ff", 255], ["cd 0100", 256], ["ce ffffffff", 0xffffffff], ["cf 001fffffffffffff", Number.MAX_SAFE_INTEGER],
    ["d0 80", -128], ["d1 8000", -32768], ["d2 80000000", -0x80000000], ["d3 ffffffffffffffff", -1],
    ["ca 3fc00000", 1.5], ["cb 3ff8000000000000", 1.5],
    ["a0", ""], ["a1 61", "a"], ["d9 02 c3a4", "ä"], ["da 0001 61", "a"], ["db 00000001 61", "a"],
    ["90", []], ["92 01 02", [1, 2]], ["dc 0001 c0", [null]], ["dd 00000001 c0", [null]],
    ["80", {}], ["81 a161 01", { a: 1 }], ["de 0001 a161 01", { a: 1 }], ["df 00000001 a161 01", { a: 1 }],
    ["c4 02 0102", new Uint8Array([1, 2])], ["c5 0001 07", new Uint8Array([7])], ["c6 00000001 07", new Uint8Array([7])],
    ["c7 04 17 0000c03f", new Float32Array([1.5])], ["d6 16 01000000", new Uint32Array([1])],
    ["d7 18 000000000000f83f", new Float64Array([1.5])], ["d4 11 ff", new Int8Array([-1])],
    ["d5 13 ffff", new Int16Array([-1])], ["d5 14 ffff", new Uint16Array([65535])], ["c8 0001 12 09", new Uint8Array([9])],
    ["d8 15 ffffffff 00000000 01000000 02000000", new Int32Array([-1, 0, 1, 2])],
    // An unknown extension decodes to its bytes.
    ["d4 55 2a", new Uint8Array([42])],
  ];
  for (const [text, value] of forms) assert.deepEqual(decode(hex(text)), value, text);
});

test("encoded values decode to themselves", () => {
  const numbers = [0, 1, -1, 127, 128, 255, 256, 65535, 65536, 2 ** 32 - 1, 2 ** 32, -32, -33, -128, -129, -32768, -32769, -(2 ** 31), -(2 ** 31) - 1, 0.1, -1e300, Infinity];
  const value = {
    numbers,
    text: ["", "x".repeat(31), "x".repeat(32), "ü".repeat(300), "y".repeat(70_000)],
    deep: [[[{ a: { b: null } }]]],
    many: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i % 2 === 0])),
    long: Array.from({ length: 70_000 }, (_, i) => i),
  };
  assert.deepEqual(decode(encode(value)), value);
  assert.ok(Number.isNaN(decode(encode(NaN))));
});

test("false lengths are rejected", () => {
  // Each claims four billion elements or bytes.
  for (const text of ["dd ffffffff", "df ffffffff", "c6 ffffffff", "db ffffffff", "c9 ffffffff 17"]) {
    assert.throws(() => decode(hex(`${text} 00`)), MsgpackError, text);
  }
});

test("malformed messages are errors", () => {
  const errors: [string, RegExp][] = [
    ["", /^0 bytes: /],
    ["c1", /Unrecognized type byte: 0xc1/],
    ["00 00", /Extra 1 of 2 byte/],
    ["81 01 02", /a key of a map is not a string/],
    ["81 a95f5f70726f746f5f5f 80", /__proto__/],
    ["c7 03 17 010203", /not a whole number of elements/],
  ];
  for (const [text, message] of errors) assert.throws(() => decode(hex(text)), { name: "Error", message }, text);
});

test("bytes that are not UTF-8 are harmless", () => {
  assert.equal(typeof decode(hex("a2 c328")), "string");
});

test("nesting is bounded", () => {
  const nested = (levels: number): Uint8Array => new Uint8Array([...new Array(levels).fill(0x91), 0xc0]);
  decode(nested(MAX_DEPTH));
  assert.throws(() => decode(nested(MAX_DEPTH + 1)), /levels of nesting/);
  assert.throws(() => decode(nested(1_000_000)), MsgpackError);
});

test("random bytes decode to a value or an error", () => {
  let state = 12345;
  const random = (): number => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 16;
  for (let round = 0; round < 20_000; round++) {
    const bytes = Uint8Array.from({ length: random() % 40 }, () => random() & 0xff);
    try {
      decode(bytes);
    } catch (error) {
      assert.ok(error instanceof MsgpackError);
    }
  }
});
