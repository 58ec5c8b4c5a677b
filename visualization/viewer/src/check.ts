// Reading the fields of a message. Errors name the invalid field.

import type { Value } from "./msgpack";

export type Fields = { [key: string]: Value };

/** A request in a message that cannot be fulfilled. The text addresses the author of the sender. */
export class Refused extends Error {}

function found(value: Value | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "nil";
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object") return "a map";
  const shown = JSON.stringify(value);
  return shown.length > 60 ? `${shown.slice(0, 60)}...` : shown;
}

export function isMap(value: Value | undefined): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

function field<T extends Value>(
  of: Fields,
  name: string,
  expected: string,
  is: (value: Value | undefined) => value is T,
): T {
  const value = Object.hasOwn(of, name) ? of[name] : undefined;
  if (!is(value)) throw new Refused(`"${name}" must be ${expected}, got ${found(value)}`);
  return value;
}

export const map = (of: Fields, name: string): Fields => field(of, name, "a map", isMap);

export const string = (of: Fields, name: string): string =>
  field(of, name, "a string", (v): v is string => typeof v === "string");

export const boolean = (of: Fields, name: string): boolean =>
  field(of, name, "true or false", (v): v is boolean => typeof v === "boolean");

export const number = (of: Fields, name: string): number =>
  field(of, name, "a finite number", (v): v is number => typeof v === "number" && Number.isFinite(v));

export const array = (of: Fields, name: string): Value[] =>
  field(of, name, "an array", (v): v is Value[] => Array.isArray(v));

export const bytes = (of: Fields, name: string): Uint8Array =>
  field(of, name, "binary data", (v): v is Uint8Array => v instanceof Uint8Array);

/** Reads `count` finite numbers from a plain or a typed array. */
export function numbers(of: Fields, name: string, count: number): number[] {
  const value = Object.hasOwn(of, name) ? of[name] : undefined;
  const list = asNumbers(value);
  if (list === null || list.length !== count) {
    throw new Refused(`"${name}" must be ${count} finite numbers, got ${found(value)}`);
  }
  return list;
}

/** Returns the numbers of a plain or typed array; null if it is something else or one of them is
 * not finite. */
export function asNumbers(value: Value | undefined): number[] | null {
  let list: number[];
  if (Array.isArray(value)) list = value as number[];
  else if (ArrayBuffer.isView(value)) list = Array.from(value as ArrayLike<number>);
  else return null;
  return list.every((x) => typeof x === "number" && Number.isFinite(x)) ? list : null;
}

/** Same as `string`, for an optional field. */
export const stringOr = (of: Fields, name: string, otherwise: string): string =>
  Object.hasOwn(of, name) && of[name] !== null ? string(of, name) : otherwise;

export const numberOr = (of: Fields, name: string, otherwise: number): number =>
  Object.hasOwn(of, name) && of[name] !== null ? number(of, name) : otherwise;

export const booleanOr = (of: Fields, name: string, otherwise: boolean): boolean =>
  Object.hasOwn(of, name) && of[name] !== null ? boolean(of, name) : otherwise;
