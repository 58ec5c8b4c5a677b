// The canvas and its drawing: only after changes, at most once per frame of the screen.

import { NeutralToneMapping, PCFShadowMap, WebGLRenderer } from "three";

import type { Cameras } from "./cameras";
import type { Environment } from "./environment";
import type { Log } from "./log";
import type { Tree } from "./tree";

/** A higher resolution costs four times the work without a visible difference. */
const MOST_PIXELS_PER_POINT = 2;

export function makeRenderer(canvas: HTMLCanvasElement): WebGLRenderer {
  const renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
  renderer.setPixelRatio(Math.min(window.devicePixelRatio, MOST_PIXELS_PER_POINT));
  // Leaves colours unchanged and compresses only what is brighter than white.
  renderer.toneMapping = NeutralToneMapping;
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = PCFShadowMap;
  return renderer;
}

export class View {
  /** Called before every frame that is drawn, with the time in seconds; returning true requests
   * another frame. */
  readonly beforeFrame: ((now: number) => boolean)[] = [];
  readonly afterFrame: ((now: number) => void)[] = [];
  /** Whether a headset shows the scene and determines when to draw. */
  immersive = false;
  private scheduled = false;

  constructor(
    readonly renderer: WebGLRenderer,
    readonly tree: Tree,
    readonly cameras: Cameras,
    readonly environment: Environment,
    private readonly log: Log,
  ) {
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(this.holder);
    this.resize();
  }

  private get holder(): HTMLElement {
    return this.renderer.domElement.parentElement ?? document.body;
  }

  private resize(): void {
    if (this.immersive) return;
    const { clientWidth, clientHeight } = this.holder;
    const [width, height] = [Math.max(1, clientWidth), Math.max(1, clientHeight)];
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, MOST_PIXELS_PER_POINT));
    this.renderer.setSize(width, height, false);
    this.cameras.resize(width / height);
    // Drawn at once, because the canvas is empty now.
    this.draw();
  }

  /** Draws with the next frame of the screen, however often it is called until then. */
  readonly request = (): void => {
    if (this.scheduled || this.immersive) return;
    this.scheduled = true;
    requestAnimationFrame((now) => {
      this.scheduled = false;
      this.frame(now);
    });
  };

  /** Draws one frame: animations and other steps first, then the picture. */
  frame(now: number): void {
    let again = false;
    for (const step of this.beforeFrame) again = step(now / 1000) || again;
    this.draw();
    for (const step of this.afterFrame) step(now / 1000);
    if (again) this.request();
  }

  /** Draws now. */
  readonly draw = (): void => {
    try {
      this.cameras.update();
      this.tree.scene.updateMatrixWorld();
      this.environment.update(performance.now());
      this.renderer.render(this.tree.scene, this.cameras.camera);
    } catch (error) {
      this.log.failure("drawing", error);
    }
  };

  /** Returns a picture of `width` x `height` pixels as a data URL of a PNG; of the page's size if
   * they are null. */
  picture(width: number | null, height: number | null): string {
    const { renderer, cameras } = this;
    if (width === null || height === null || this.immersive) {
      this.draw();
      return renderer.domElement.toDataURL("image/png");
    }
    const most = renderer.capabilities.maxTextureSize;
    const [w, h] = [width, height].map((x) => Math.min(Math.max(1, Math.round(x)), most)) as [number, number];
    try {
      renderer.setPixelRatio(1);
      renderer.setSize(w, h, false);
      cameras.resize(w / h);
      this.draw();
      return renderer.domElement.toDataURL("image/png");
    } finally {
      this.resize();
    }
  }
}
