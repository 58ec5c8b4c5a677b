// Frame rate of the page and realtime rate of the simulation.

import type { WebGLRenderer } from "three";

import { el } from "./dom";

const COLUMNS = 120;
const HEIGHT = 32;

/** Returns the activity of the page: frames in the last second, or why there are none. */
export function activity(loading: number, frames: number): string {
  if (loading > 0) return `loading ${loading}`;
  return frames === 0 ? "idle" : `${frames} fps`;
}

export class Stats {
  readonly element = el("div", { class: "stats card", role: "group", "aria-label": "Statistics", hidden: true });
  private readonly text = el("output", {});
  private readonly rateText = el("output", {});
  private readonly chart = el("canvas", { width: COLUMNS, height: HEIGHT, role: "img", "aria-label": "Realtime rate over time" });
  /** Rates in percent of real time, one per column, the latest last. */
  private readonly rates: number[] = [];
  private frames: number[] = [];

  /** `loading` returns the number of objects that are not loaded yet. */
  constructor(
    private readonly renderer: WebGLRenderer,
    private readonly loading: () => number,
  ) {
    const rate = el("div", { class: "rate", hidden: true }, this.rateText, this.chart);
    this.element.append(this.text, rate);
    window.setInterval(() => this.update(), 500);
  }

  show(shown: boolean): void {
    this.element.hidden = !shown;
    this.update();
  }

  frame(now: number): void {
    this.frames.push(now);
  }

  /** Adds a rate as reported by the server: 1 is real time. */
  rate(rate: number): void {
    this.rates.push(100 * rate);
    if (this.rates.length > COLUMNS) this.rates.shift();
    this.draw();
  }

  private update(): void {
    if (this.element.hidden) return;
    const now = performance.now() / 1000;
    this.frames = this.frames.filter((time) => time > now - 1);
    const { calls, triangles } = this.renderer.info.render;
    const doing = activity(this.loading(), this.frames.length);
    this.text.textContent = `${doing} · ${calls} calls · ${triangles.toLocaleString("en")} triangles`;
  }

  private draw(): void {
    const last = this.rates.at(-1);
    const context = this.chart.getContext("2d");
    if (last === undefined || context === null) return;
    (this.chart.parentElement as HTMLElement).hidden = false;
    this.rateText.textContent = `realtime rate ${last.toFixed(0)} %`;
    const most = Math.max(110, ...this.rates);
    context.clearRect(0, 0, COLUMNS, HEIGHT);
    const style = getComputedStyle(this.element);
    context.fillStyle = style.getPropertyValue("--accent");
    this.rates.forEach((rate, i) => {
      const height = Math.max(1, (rate / most) * HEIGHT);
      context.fillRect(COLUMNS - this.rates.length + i, HEIGHT - height, 1, height);
    });
    // Line at real time.
    context.fillStyle = style.getPropertyValue("--muted");
    context.fillRect(0, HEIGHT - (100 / most) * HEIGHT, COLUMNS, 1);
  }
}
