// The scene in a headset (WebXR, https://www.w3.org/TR/webxr/). The floor origin is at the position
// of the page's camera.

import { BufferGeometry, type Group, Line, LineBasicMaterial, PerspectiveCamera, Quaternion, Vector3 } from "three";

import { el } from "./dom";
import type { Log } from "./log";
import type { View } from "./view";

type Mode = "immersive-vr" | "immersive-ar";

export class Webxr {
  /** Holds the button; a browser enters a headset only on a user action. */
  readonly element = el("div", { class: "webxr", hidden: true });
  private controllers = false;
  private readonly shown: Group[] = [];

  constructor(
    private readonly view: View,
    private readonly log: Log,
  ) {}

  showControllers(): void {
    this.controllers = true;
  }

  /** Offers the button for `mode`, "ar" or "vr"; without AR, VR is offered. */
  async enable(mode: string): Promise<void> {
    const xr = navigator.xr;
    if (xr === undefined) {
      this.log.report("WebXR is unavailable in this browser, or the page does not come from https or localhost");
      return;
    }
    const supported = async (candidate: Mode): Promise<boolean> => xr.isSessionSupported(candidate).catch(() => false);
    const wanted: Mode[] = mode.toLowerCase() === "ar" ? ["immersive-ar", "immersive-vr"] : ["immersive-vr"];
    for (const candidate of wanted) {
      if (!(await supported(candidate))) continue;
      const button = el("button", { type: "button", class: "wide" }, candidate === "immersive-ar" ? "Enter AR" : "Enter VR");
      button.addEventListener("click", () => {
        this.enter(xr, candidate).catch((error: unknown) => this.log.failure("WebXR", error));
      });
      this.element.replaceChildren(button);
      this.element.hidden = false;
      return;
    }
    this.log.report(`WebXR: no device for ${mode} is connected`);
  }

  private async enter(xr: XRSystem, mode: Mode): Promise<void> {
    const { view } = this;
    const { renderer, cameras, tree } = view;
    if (!(cameras.camera instanceof PerspectiveCamera)) {
      this.log.report("WebXR: the camera must be perspective, got an orthographic one");
      return;
    }
    const session = await xr.requestSession(mode, { optionalFeatures: ["local-floor", "bounded-floor"] });
    const home = cameras.camera;
    const eyes = new PerspectiveCamera(home.fov, home.aspect, home.near, home.far);
    renderer.xr.enabled = true;
    renderer.xr.setReferenceSpaceType("local");
    await renderer.xr.setSession(session as never);
    const space = renderer.xr.getReferenceSpace();
    if (space !== null) {
      const position = home.getWorldPosition(new Vector3());
      // Rotates about the vertical only, so that the horizon stays level.
      const direction = home.getWorldDirection(new Vector3());
      const turn = new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), Math.atan2(-direction.x, -direction.z));
      const back = turn.clone().invert();
      const offset = position.negate().applyQuaternion(back);
      renderer.xr.setReferenceSpace(space.getOffsetReferenceSpace(new XRRigidTransform(offset, back)));
    }
    if (this.controllers) this.addControllers();
    view.immersive = true;
    renderer.setAnimationLoop((now: number) => {
      for (const step of view.beforeFrame) step(now / 1000);
      tree.scene.updateMatrixWorld();
      view.environment.update(now);
      // In AR, the image of the room is the background.
      if (mode === "immersive-ar") tree.scene.background = null;
      renderer.render(tree.scene, eyes);
    });
    session.addEventListener("end", () => {
      renderer.setAnimationLoop(null);
      renderer.xr.enabled = false;
      view.immersive = false;
      for (const controller of this.shown.splice(0)) controller.removeFromParent();
      window.dispatchEvent(new Event("resize"));
      view.request();
    });
  }

  /** Adds a ray for each hand. */
  private addControllers(): void {
    const { renderer } = this.view;
    for (const hand of [0, 1]) {
      const controller = renderer.xr.getController(hand) as unknown as Group;
      const ray = new BufferGeometry().setFromPoints([new Vector3(), new Vector3(0, 0, -1)]);
      controller.add(new Line(ray, new LineBasicMaterial({ color: 0x2f7ff0 })));
      // In the y-up frame of the camera.
      (this.view.cameras.camera.parent ?? this.view.tree.scene).add(controller);
      this.shown.push(controller);
    }
  }
}
