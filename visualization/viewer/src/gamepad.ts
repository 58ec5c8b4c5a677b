// The first game controller, reported to the server whenever its state changes.

import type { Encodable } from "./msgpack";

/** Interval, in milliseconds, of the search for a controller that was not announced. */
const LOOK = 500;

function describe(pad: Gamepad): { [key: string]: Encodable } {
  return {
    index: pad.index,
    button_values: pad.buttons.map((button) => button.value),
    axes: [...pad.axes],
  };
}

export class Gamepads {
  private last = "";
  private polling = false;

  constructor(private readonly send: (message: Encodable) => void) {
    window.addEventListener("gamepadconnected", () => this.poll());
    window.setInterval(() => this.poll(), LOOK);
  }

  /** Forgets what was sent, because a new server does not know it. */
  again(): void {
    this.last = "";
  }

  private poll(): void {
    if (!this.polling) this.look();
  }

  /** Looks for a controller, and polls it in every frame while it exists. */
  private look(): void {
    const pad = navigator.getGamepads?.().find((candidate) => candidate !== null) ?? null;
    this.polling = pad !== null;
    if (pad !== null) {
      this.tell(describe(pad));
      requestAnimationFrame(() => this.look());
    } else if (this.last !== "") {
      this.tell({});
      this.last = "";
    }
  }

  private tell(gamepad: { [key: string]: Encodable }): void {
    const text = JSON.stringify(gamepad);
    if (text === this.last) return;
    this.last = text;
    this.send({ type: "gamepad", name: "", gamepad });
  }
}
