// The panel at the right: actions on the view, the server's controls, the scene tree, and help.

import { saveImage, videoButton } from "./capture";
import type { State } from "./connection";
import type { ControlsPanel } from "./controls_panel";
import { el, iconButton, typing } from "./dom";
import type { Log } from "./log";
import type { Stats } from "./stats";
import type { Theme } from "./theme";
import type { TreePanel } from "./tree_panel";
import type { View } from "./view";

export interface Parts {
  view: View;
  log: Log;
  theme: Theme;
  stats: Stats;
  controls: ControlsPanel;
  tree: TreePanel;
  webxr: HTMLElement;
  /** Address of the static file of the scene; null if the page is one itself. */
  download: string | null;
  hidden: boolean;
}

declare const LICENSES: string;

const STATES: Record<State | "static", string> = {
  connecting: "connecting",
  connected: "connected",
  lost: "connection lost, reconnecting",
  static: "saved scene",
};

const KEYS: [string, string][] = [
  ["drag, one finger", "rotate"],
  ["right drag, two fingers", "pan"],
  ["wheel, pinch, + and −", "zoom"],
  ["Alt + drag", "pull a thing, if the program listens"],
  ["arrows", "pan (with Ctrl or Shift: rotate)"],
  ["F, Home", "show everything, reset the view"],
  ["H", "hide or show the panels"],
];

export class Panel {
  readonly element: HTMLElement;
  private readonly status = el("output", { class: "status", "data-state": "connecting" });
  private readonly body: HTMLElement;
  private readonly controls: HTMLDetailsElement;

  constructor(private readonly parts: Parts) {
    const { view, theme, stats, controls, tree, log } = parts;
    const about = this.about();
    const tools = el("div", { class: "tools", role: "toolbar", "aria-label": "View" });
    tools.append(
      iconButton("fit", "Show everything (F)", () => this.look(() => view.cameras.fit())),
      iconButton("home", "Reset the view (Home)", () => this.look(() => view.cameras.reset())),
      iconButton("photo", "Save a picture", () => saveImage(view)),
    );
    const video = videoButton(view, log);
    if (video !== null) tools.append(video);
    tools.append(
      iconButton("stats", "Statistics", () => stats.show(stats.element.hidden !== false)),
      iconButton("theme", "Light or dark theme", () => theme.toggle()),
    );
    if (parts.download !== null) {
      const link = iconButton("save", "Download the scene as one file", () => {
        location.href = parts.download as string;
      });
      tools.append(link);
    }
    tools.append(iconButton("help", "Help and about", () => about.showModal()));
    this.controls = el("details", { open: true, hidden: true }, el("summary", {}, "Controls"), controls.element);
    controls.changed = (count) => {
      this.controls.hidden = count === 0;
    };
    const scene = el("details", {}, el("summary", {}, "Scene"), tree.element);
    scene.addEventListener("toggle", () => tree.update(false));
    this.body = el("div", { class: "body", id: "panel-body" }, tools, parts.webxr, this.controls, scene);
    const fold = iconButton("panel", "Collapse or expand the panel", () => this.fold());
    fold.setAttribute("aria-controls", "panel-body");
    this.element = el("aside", { class: "panel card", "aria-label": "Panel" }, el("header", {}, this.status, fold), this.body, about);
    window.addEventListener("keydown", (event) => {
      if (event.code !== "KeyH" || typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      document.body.classList.toggle("bare");
    });
    document.body.classList.toggle("bare", parts.hidden);
    if (window.innerWidth < 640) this.fold();
  }

  private look(change: () => void): void {
    change();
    this.parts.view.request();
  }

  private fold(): void {
    this.body.hidden = !this.body.hidden;
  }

  state(state: State | "static"): void {
    this.status.textContent = STATES[state];
    this.status.dataset["state"] = state;
  }

  private about(): HTMLDialogElement {
    const rows = KEYS.map(([key, what]) => el("tr", {}, el("th", { scope: "row" }, key), el("td", {}, what)));
    const close = el("button", { type: "button", class: "wide", autofocus: true }, "Close");
    const dialog = el(
      "dialog",
      { class: "card", "aria-label": "Help and about" },
      el("h2", {}, "tarragon"),
      el("table", {}, ...rows),
      el("details", {}, el("summary", {}, "Licences"), el("pre", { tabindex: 0 }, LICENSES)),
      close,
    );
    close.addEventListener("click", () => dialog.close());
    return dialog;
  }
}
