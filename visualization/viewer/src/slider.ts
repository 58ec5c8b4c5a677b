// Arithmetic of a slider: values are multiples of the step, clamped to [min, max]. The server has
// the same rule, which is Drake's.

export interface Range {
  min: number;
  max: number;
  step: number;
}

/** Returns the index of the first multiple. */
function first(range: Range): number {
  return Math.round(range.min / range.step);
}

/** Returns the number of steps between the first value and the last. */
export function steps(range: Range): number {
  const span = Math.round(range.max / range.step) - first(range);
  return Number.isFinite(span) && span > 0 ? span : 0;
}

/** Returns the index of the step nearest to `value`. */
export function stepOf(range: Range, value: number): number {
  const k = Math.round(value / range.step) - first(range);
  return Number.isFinite(k) ? Math.min(Math.max(k, 0), steps(range)) : 0;
}

/** Returns the value of step `k`, which is always in the range. */
export function valueOf(range: Range, k: number): number {
  return Math.min(Math.max((first(range) + k) * range.step, range.min), range.max);
}

/** Returns `value` clamped to the range and rounded to the nearest step. */
export function snap(range: Range, value: number): number {
  return valueOf(range, stepOf(range, value));
}

/** Returns the number of decimal places that distinguish two steps when values are shown. */
export function digits(range: Range): number {
  const needed = (x: number): number => {
    const match = /(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(x));
    return Math.max(0, (match?.[1]?.length ?? 0) - Number(match?.[2] ?? 0));
  };
  return Math.min(6, Math.max(needed(range.step), needed(range.min)));
}
