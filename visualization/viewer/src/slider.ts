// The arithmetic of a slider: values are min + k * step within [min, max].

export interface Range {
  min: number;
  max: number;
  step: number;
}

/** How many steps fit; a little is added because (max - min) / step is rarely a whole number of binary fractions. */
export function steps(range: Range): number {
  const span = (range.max - range.min) / range.step;
  return Number.isFinite(span) && span > 0 ? Math.floor(span + 1e-9) : 0;
}

/** The number of the step nearest to `value`. */
export function stepOf(range: Range, value: number): number {
  const k = Math.round((value - range.min) / range.step);
  return Number.isFinite(k) ? Math.min(Math.max(k, 0), steps(range)) : 0;
}

/** The value of step `k`, never outside of the range. */
export function valueOf(range: Range, k: number): number {
  return Math.min(range.min + k * range.step, range.max);
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
