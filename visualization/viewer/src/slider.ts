// Arithmetic of a slider. The allowed values are the multiples of the step within [min, max], and
// both ends; the nearest one wins, at a tie the one that is farther from zero. The server has the
// same rule (`Slider::quantize` in slider.rs), with the same rounding.

export interface Range {
  min: number;
  max: number;
  step: number;
}

/** Part of a step within which rounding makes two values equal. */
const ROUNDING = 1e-9;

/** Returns the first and the last multiple strictly between the ends, in steps. */
function inner({ min, max, step }: Range): [number, number] {
  const slack = (x: number): number => ROUNDING + Math.abs(x) * Number.EPSILON;
  const [low, high] = [min / step, max / step];
  return [Math.floor(low + slack(low)) + 1, Math.ceil(high - slack(high)) - 1];
}

/** Returns the number of steps between the first value and the last. */
export function steps(range: Range): number {
  if (range.min === range.max) return 0;
  const [first, last] = inner(range);
  const between = last - first + 1;
  return Number.isFinite(between) && between > 0 ? between + 1 : 1;
}

/** Returns the value of step `k`, which is always in the range. */
export function valueOf(range: Range, k: number): number {
  if (k <= 0) return range.min;
  if (k >= steps(range)) return range.max;
  return (inner(range)[0] + k - 1) * range.step;
}

/** Returns the index of the step nearest to `value`. */
export function stepOf(range: Range, value: number): number {
  if (Number.isNaN(value)) return 0;
  const inside = Math.min(Math.max(value, range.min), range.max);
  const [first, last] = inner(range);
  const most = steps(range);
  // Both neighbours: the quotient of a tie in decimals, such as 0.15 / 0.1, is rounded.
  const multiple = (n: number): number => Math.min(Math.max(n, first), last) - first + 1;
  const quotient = inside / range.step;
  const near = [0, most, multiple(Math.floor(quotient)), multiple(Math.ceil(quotient))].filter((k) => k >= 0 && k <= most);
  const slack = ROUNDING * range.step;
  return near.reduce((best, k) => {
    const [a, b] = [valueOf(range, k), valueOf(range, best)];
    const closer = Math.abs(b - inside) - Math.abs(a - inside);
    const wins = Math.abs(closer) <= slack ? Math.abs(a) > Math.abs(b) : closer > 0;
    return wins ? k : best;
  });
}

/** Returns the allowed value nearest to `value`. */
export function snap(range: Range, value: number): number {
  return valueOf(range, stepOf(range, value));
}

/** Returns the number of decimal places that distinguish `value` from others when it is shown. An
 * end that is no multiple of the step may need more than the multiples. */
export function digits(range: Range, value: number): number {
  const needed = (x: number): number => {
    const match = /(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(x));
    return Math.max(0, (match?.[1]?.length ?? 0) - Number(match?.[2] ?? 0));
  };
  const isEnd = value === range.min || value === range.max;
  return Math.min(6, Math.max(needed(range.step), isEnd ? needed(value) : 0));
}
