// The camera in use, and how the user moves it. Poses are in three.js's y-up axes, in the frame of
// /Cameras/default/rotated.

import {
  Box3, type Camera, MathUtils, Matrix4, Mesh, type Object3D, OrthographicCamera, PerspectiveCamera, Points, Line, Sphere, Vector3,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

import { DEFAULTS } from "./paths";
import type { Tree } from "./tree";

/** Path at which messages set cameras. */
export const CAMERA_PATH = "/Cameras/default/rotated";

export type AnyCamera = PerspectiveCamera | OrthographicCamera;

export function defaultCamera(): PerspectiveCamera {
  const camera = new PerspectiveCamera(75, 1, 0.01, 100);
  camera.position.set(0, 1, 3);
  camera.lookAt(0, 0, 0);
  return camera;
}

export class Cameras {
  camera: AnyCamera = defaultCamera();
  readonly controls: OrbitControls;
  /** Box that the orthographic camera must show. */
  private box: { left: number; right: number; top: number; bottom: number } | null = null;
  private aspect = 1;

  constructor(
    private readonly tree: Tree,
    canvas: HTMLCanvasElement,
    changed: () => void,
  ) {
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.listenToKeyEvents(canvas);
    this.controls.addEventListener("change", changed);
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "+" || event.key === "=") this.controls.dollyIn(1.1);
      else if (event.key === "-") this.controls.dollyOut(1.1);
      else if (event.key === "Home") this.reset();
      else if (event.key === "f") this.fit();
      else return;
      event.preventDefault();
    });
  }

  /** Looks through `camera`. It takes over the pose of the previous camera, unless `placed` says
   * that it has a pose of its own. */
  use(camera: Camera, placed: boolean): void {
    if (!(camera instanceof PerspectiveCamera || camera instanceof OrthographicCamera)) return;
    if (!placed) {
      camera.position.copy(this.camera.position);
      camera.quaternion.copy(this.camera.quaternion);
    }
    this.camera = camera;
    this.box =
      camera instanceof OrthographicCamera
        ? { left: camera.left, right: camera.right, top: camera.top, bottom: camera.bottom }
        : null;
    this.controls.object = camera;
    this.resize(this.aspect);
  }

  /** Fits the picture to `aspect` = width / height. The box of an orthographic camera stays
   * visible. */
  resize(aspect: number): void {
    this.aspect = aspect;
    const { camera, box } = this;
    if (camera instanceof PerspectiveCamera) camera.aspect = aspect;
    else if (box !== null) {
      const width = box.right - box.left;
      const height = box.top - box.bottom;
      const wide = width > aspect * height ? width : aspect * height;
      const high = wide / aspect;
      const x = (box.left + box.right) / 2;
      const y = (box.top + box.bottom) / 2;
      camera.left = x - wide / 2;
      camera.right = x + wide / 2;
      camera.top = y + high / 2;
      camera.bottom = y - high / 2;
    }
    camera.updateProjectionMatrix();
  }

  setTarget(target: number[]): void {
    this.controls.target.fromArray(target);
  }

  /** Called before each picture. Makes the camera look at its target, wherever messages have put
   * both. */
  update(): void {
    this.controls.update();
  }

  /** Restores the initial pose. */
  reset(): void {
    this.controls.target.set(0, 0, 0);
    this.camera.position.set(0, 1, 3);
    this.camera.zoom = 1;
    this.camera.updateProjectionMatrix();
    this.controls.update();
  }

  /** Moves the camera along its viewing direction until everything below `/drake`, or else every
   * object added by messages, is visible. */
  fit(): void {
    const box = new Box3();
    const one = new Box3();
    const add = (object: Object3D): void => {
      if (!object.visible) return;
      if ((object instanceof Mesh || object instanceof Points || object instanceof Line) && one.setFromObject(object).isEmpty() === false) {
        // Ignores huge objects, such as a ground of a hundred metres.
        if (one.getSize(new Vector3()).length() < 50) box.union(one);
      } else for (const child of object.children) add(child);
    };
    for (const [name, node] of this.tree.root.children) {
      if (!DEFAULTS.has(name)) add(node.object);
    }
    if (box.isEmpty()) {
      this.reset();
      return;
    }
    const { center, radius } = box.getBoundingSphere(new Sphere());
    const { camera, controls } = this;
    const away = camera.position.clone().sub(controls.target);
    if (away.lengthSq() === 0) away.set(0, 1, 3);
    controls.target.copy(center);
    if (camera instanceof PerspectiveCamera) {
      const half = MathUtils.degToRad(camera.fov / 2);
      const narrow = Math.min(half, Math.atan(Math.tan(half) * camera.aspect));
      away.setLength((1.05 * Math.max(radius, 0.05)) / Math.sin(narrow));
    } else camera.zoom = Math.min(camera.right - camera.left, camera.top - camera.bottom) / (2.1 * Math.max(radius, 0.05));
    camera.position.copy(center).add(away);
    camera.updateProjectionMatrix();
    controls.update();
  }

  /** Returns the pose of the camera in the world, as servers receive it. It is exact if nothing
   * above the camera rotates or moves it. */
  pose(): number[] {
    this.camera.updateWorldMatrix(true, false);
    const above = this.camera.parent?.matrixWorld ?? new Matrix4();
    const identity = new Matrix4();
    const plain = above.elements.every((x, i) => Math.abs(x - (identity.elements[i] as number)) < 1e-12);
    return (plain ? this.camera.matrix : this.camera.matrixWorld).elements.map((x) => (x === 0 ? 0 : x));
  }
}
