// The arithmetic of a slider: values are multiples of the step, or the end of [min, max] that is
// nearer than the next one. The server has the same rule, which is Drake's.

export interface Range {
  min: number;
  max: number;
  step: number;
}

/** The multiple that comes first. */
function first(range: Range): number {
  return Math.round(range.min / range.step);
}

/** How many steps there are from the first value to the last. */
export function steps(range: Range): number {
  const span = Math.round(range.max / range.step) - first(range);
  return Number.isFinite(span) && span > 0 ? span : 0;
}

/** The number of the step nearest to `value`. */
export function stepOf(range: Range, value: number): number {
  const k = Math.round(value / range.step) - first(range);
  return Number.isFinite(k) ? Math.min(Math.max(k, 0), steps(range)) : 0;
}

/** The value of step `k`, never outside of the range. */
export function valueOf(range: Range, k: number): number {
  return Math.min(Math.max((first(range) + k) * range.step, range.min), range.max);
}

/** `value` clamped to the range and rounded to the nearest step. */
export function snap(range: Range, value: number): number {
  return valueOf(range, stepOf(range, value));
}

/** Digits after the point that tell two steps apart, for showing values. */
export function digits(range: Range): number {
  const needed = (x: number): number => {
    const match = /(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(x));
    return Math.max(0, (match?.[1]?.length ?? 0) - Number(match?.[2] ?? 0));
  };
  return Math.min(6, Math.max(needed(range.step), needed(range.min)));
}
