// Bar below the scene, shown while there is an animation.

import type { Player } from "./animation";
import { el, iconButton, setIcon } from "./dom";
import { LOOP_ONCE, LOOP_PING_PONG, LOOP_REPEAT } from "./playback";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];

export class AnimationBar {
  readonly element = el("div", { class: "bar card", role: "group", "aria-label": "Animation", hidden: true });
  private readonly button = iconButton("play", "Play", () => this.toggle());
  private readonly scrub = el("input", { type: "range", min: 0, max: 1, step: 0.001, value: 0, "aria-label": "Time" });
  private readonly clock = el("output", { class: "clock" });
  private readonly speed = el("select", { "aria-label": "Speed", title: "Speed" });
  private readonly loop = el("select", { "aria-label": "Repetition", title: "Repetition" });

  constructor(private readonly player: Player) {
    for (const speed of SPEEDS) this.speed.append(el("option", { value: speed, selected: speed === 1 }, `${speed}×`));
    for (const [mode, text] of [[LOOP_ONCE, "once"], [LOOP_REPEAT, "repeat"], [LOOP_PING_PONG, "back and forth"]] as const) {
      this.loop.append(el("option", { value: mode }, text));
    }
    this.speed.addEventListener("change", () => {
      player.speed = Number(this.speed.value);
    });
    this.loop.addEventListener("change", () => {
      const { clip } = player;
      if (clip === null) return;
      clip.loopMode = Number(this.loop.value);
      // A user who chooses a repetition here wants it to go on.
      clip.repetitions = Infinity;
    });
    this.scrub.addEventListener("input", () => {
      // Pausing may move the slider, so its value is read first.
      const time = Number(this.scrub.value);
      if (player.playing) player.pause();
      player.seek(time);
    });
    this.element.append(
      iconButton("start", "Reset the scene", () => player.reset()),
      this.button,
      this.scrub,
      this.clock,
      this.speed,
      this.loop,
    );
    player.changed = () => this.update();
  }

  private toggle(): void {
    if (this.player.playing) this.player.pause();
    else this.player.play();
  }

  private update(): void {
    const { clip, playing, time } = this.player;
    this.element.hidden = clip === null;
    if (clip === null) return;
    if (playing !== (this.button.title === "Pause")) setIcon(this.button, playing ? "pause" : "play", playing ? "Pause" : "Play");
    this.scrub.max = String(clip.duration);
    this.scrub.value = String(time);
    this.clock.textContent = `${time.toFixed(2)} / ${clip.duration.toFixed(2)} s`;
    this.scrub.setAttribute("aria-valuetext", `${time.toFixed(2)} seconds`);
    this.loop.value = String(clip.loopMode);
  }
}
