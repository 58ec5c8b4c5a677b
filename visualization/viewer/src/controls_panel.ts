// Buttons and sliders that the server has added, in the order of their creation, and their keys.

import { Refused } from "./check";
import { el, typing } from "./dom";
import type { Encodable } from "./msgpack";
import { digits, type Range, snap, stepOf, steps, valueOf } from "./slider";

interface Control {
  row: HTMLElement;
  keys: Map<string, () => void>;
  slider: { range: Range; value: number; input: HTMLInputElement; shown: HTMLInputElement } | null;
}

export class ControlsPanel {
  readonly element = el("div", { class: "controls" });
  /** Called when the first control is added or the last one removed. */
  changed: (count: number) => void = () => undefined;
  private readonly controls = new Map<string, Control>();

  constructor(private readonly send: (message: Encodable) => void) {
    // Handled before anything else on the page: keys of controls take precedence.
    window.addEventListener("keydown", (event) => this.key(event), { capture: true });
  }

  private key(event: KeyboardEvent): void {
    if (typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    let taken = false;
    for (const control of this.controls.values()) {
      const act = control.keys.get(event.code);
      act?.();
      taken ||= act !== undefined;
    }
    if (!taken) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  /** Returns whether a control uses the key `code`. */
  takes(code: string): boolean {
    return [...this.controls.values()].some((control) => control.keys.has(code));
  }

  private put(name: string, control: Control): void {
    const old = this.controls.get(name);
    if (old === undefined) this.element.append(control.row);
    else old.row.replaceWith(control.row);
    this.controls.set(name, control);
    this.changed(this.controls.size);
  }

  addButton(name: string, keycode: string): void {
    const click = (): void => this.send({ type: "button", name });
    const button = el("button", { type: "button", class: "wide" }, name);
    if (keycode !== "") button.append(el("kbd", {}, keycode));
    button.addEventListener("click", click);
    const keys = new Map<string, () => void>();
    if (keycode !== "") keys.set(keycode, click);
    this.put(name, { row: el("div", { class: "control" }, button), keys, slider: null });
  }

  addSlider(name: string, range: Range, value: number, decrement: string, increment: string): void {
    const most = steps(range);
    // Counts in steps, so that the browser's own arithmetic cannot leave the grid of values.
    const input = el("input", { type: "range", min: 0, max: most, step: 1, "aria-label": name });
    const shown = el("input", { type: "number", step: "any", "aria-label": `${name}, value` });
    const row = el("div", { class: "control" }, el("div", { class: "slider" }, el("span", { class: "name", title: name }, name), shown), input);
    const keys = new Map<string, () => void>();
    const control: Control = { row, keys, slider: { range, value, input, shown } };
    const choose = (k: number): void => this.choose(name, control, k);
    input.addEventListener("input", () => choose(Number(input.value)));
    shown.addEventListener("change", () => choose(stepOf(range, Number(shown.value))));
    if (decrement !== "") keys.set(decrement, () => choose(stepOf(range, control.slider?.value ?? range.min) - 1));
    if (increment !== "") keys.set(increment, () => choose(stepOf(range, control.slider?.value ?? range.min) + 1));
    if (keys.size > 0) input.title = [decrement && `${decrement}: less`, increment && `${increment}: more`].filter(Boolean).join(", ");
    this.show(control, value);
    this.put(name, control);
  }

  private show(control: Control, value: number): void {
    const { slider } = control;
    if (slider === null) return;
    slider.value = value;
    slider.input.value = String(stepOf(slider.range, value));
    const text = value.toFixed(digits(slider.range, value));
    slider.input.setAttribute("aria-valuetext", text);
    slider.shown.value = text;
  }

  /** Applies a user's choice: shows it, and sends it if it is new. */
  private choose(name: string, control: Control, k: number): void {
    const { slider } = control;
    if (slider === null) return;
    const value = valueOf(slider.range, Math.min(Math.max(k, 0), steps(slider.range)));
    const news = value !== slider.value;
    this.show(control, value);
    if (news) this.send({ type: "slider", name, value });
  }

  /** Shows a value set by the server or another page; sends it back only if `tell` is true. */
  setValue(name: string, value: number, tell: boolean): void {
    const control = this.controls.get(name);
    if (control?.slider === null || control?.slider === undefined) throw new Refused(`there is no slider "${name}"`);
    this.show(control, value);
    if (tell) this.send({ type: "slider", name, value: snap(control.slider.range, value) });
  }

  delete(name: string): void {
    this.controls.get(name)?.row.remove();
    this.controls.delete(name);
    this.changed(this.controls.size);
  }

  clear(): void {
    for (const name of [...this.controls.keys()]) this.delete(name);
  }
}
