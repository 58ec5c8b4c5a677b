// The effect of each message. Messages are applied on arrival and drawn with the next frame.

import type { Object3D } from "three";

import { Batches } from "./batch";
import { type AnyCamera, CAMERA_PATH, type Cameras, defaultCamera } from "./cameras";
import { boolean, booleanOr, type Fields, isMap, map, number, numberOr, numbers, Refused, string, stringOr } from "./check";
import type { Assets } from "./assets";
import type { ControlsPanel } from "./controls_panel";
import type { Environment } from "./environment";
import type { Log } from "./log";
import { decode } from "./msgpack";
import { build } from "./objects";
import { normal, OBJECT } from "./paths";
import type { Player } from "./animation";
import { readClip } from "./playback";
import { setProperty } from "./properties";
import { setMatrix, type Tree } from "./tree";
import { moveVertices } from "./vertices";

/** Everything that messages act on. */
export interface Stage {
  log: Log;
  tree: Tree;
  assets: Assets;
  cameras: Cameras;
  environment: Environment;
  player: Player;
  controls: ControlsPanel;
  request: () => void;
  realtimeRate: (rate: number) => void;
  showRealtimeRate: (show: boolean) => void;
  captureImage: (width: number | null, height: number | null) => void;
  saveImage: () => void;
  enableWebxr: (mode: string) => void;
  showControllers: () => void;
}

/** Sets the pose of `object`: quaternion (x, y, z, w), then position. */
function place(object: Object3D, pose: Float64Array): void {
  object.matrixAutoUpdate = true;
  object.quaternion.fromArray(pose as unknown as [number, number, number, number]).normalize();
  object.position.fromArray(pose, 4);
  object.scale.set(1, 1, 1);
}

export class Commands {
  /** Number of messages so far, including refused ones. */
  count = 0;
  /** Number of objects that are still being loaded. */
  loading = 0;
  private readonly batches = new Batches();

  constructor(private readonly stage: Stage) {}

  /** Applies one message. The worst that any content can cause is that it is refused and logged. */
  handle(message: Uint8Array): void {
    this.count++;
    let what = "message";
    try {
      const fields = decode(message);
      if (!isMap(fields)) throw new Refused("the message must be a map");
      const type = string(fields, "type");
      what = type;
      const path = fields["path"];
      if (typeof path === "string") what = `${type} ${path.length > 120 ? `${path.slice(0, 120)}...` : path}`;
      this.apply(type, fields);
    } catch (error) {
      this.stage.log.failure(what, error);
    }
    this.stage.request();
  }

  private apply(type: string, message: Fields): void {
    const { stage } = this;
    switch (type) {
      case "set_object": return this.setObject(message);
      case "set_transform": {
        const elements = numbers(message, "matrix", 16);
        const node = stage.tree.reach(string(message, "path"));
        return node.whenLoaded(() => setMatrix(node.object, elements));
      }
      case "set_property":
        return setProperty(stage.tree, string(message, "path"), string(message, "property"), message["value"] ?? null);
      case "delete": return this.delete(string(message, "path"));
      case "set_paths": return this.batches.setPaths(message);
      case "set_transforms": return this.batches.setTransforms(message, (path, pose) => this.setPose(path, pose));
      case "set_vertices": return this.setVertices(message);
      case "set_animation": return stage.player.load(readClip(message));
      case "set_target": return stage.cameras.setTarget(numbers(message, "value", 3));
      case "set_control": return this.setControl(message);
      case "set_control_value":
        return stage.controls.setValue(
          string(message, "name"), number(message, "value"), booleanOr(message, "invoke_callback", false),
        );
      case "delete_control": return stage.controls.delete(string(message, "name"));
      case "realtime_rate": return stage.realtimeRate(number(message, "rate"));
      case "show_realtime_rate": return stage.showRealtimeRate(boolean(message, "show"));
      case "capture_image": {
        const width = numberOr(message, "xres", 0);
        const height = numberOr(message, "yres", 0);
        return width >= 1 && height >= 1 ? stage.captureImage(width, height) : stage.captureImage(null, null);
      }
      case "save_image": return stage.saveImage();
      case "enable_webxr": return stage.enableWebxr(stringOr(message, "mode", "vr"));
      case "visualize_vr_controller": return stage.showControllers();
      case "set_render_callback":
        throw new Refused("the message contains a program, and the page runs none from messages");
      default: throw new Refused("the message has an unknown type");
    }
  }

  private setObject(message: Fields): void {
    const { tree, assets, log, request } = this.stage;
    const path = string(message, "path");
    const json = map(message, "object");
    const built = build(json, assets);
    if (built instanceof Promise) {
      this.loading++;
      tree.setObjectLater(path, built, (error) => {
        this.loading--;
        if (error !== null) log.failure(`set_object ${path}`, error);
        request();
      });
      return;
    }
    tree.setObject(path, built);
    if (normal(path) === CAMERA_PATH) this.stage.cameras.use(built as unknown as AnyCamera, "matrix" in map(json, "object"));
  }

  private setVertices(message: Fields): void {
    const positions = message["positions"];
    if (!(positions instanceof Float32Array)) throw new Refused('"positions" must be an array of f32');
    const node = this.stage.tree.find(`${string(message, "path")}/${OBJECT}`);
    if (node === null) throw new Refused("there is no object at the path");
    node.whenLoaded(() => moveVertices(node.object, positions));
  }

  private setPose(path: string, pose: Float64Array): void {
    const node = this.stage.tree.reach(path);
    if (node.deferred === null) place(node.object, pose);
    else {
      const kept = pose.slice();
      node.whenLoaded(() => place(node.object, kept));
    }
  }

  private delete(path: string): void {
    this.stage.tree.delete(path);
    this.keepCamera();
  }

  /** Keeps a camera in the scene, even if a message has deleted it. */
  private keepCamera(): void {
    const { tree, cameras } = this.stage;
    let top = cameras.camera as { parent: unknown };
    while (top.parent !== null && top.parent !== undefined) top = top.parent as { parent: unknown };
    if (top === tree.scene) return;
    const camera = defaultCamera();
    tree.reach(CAMERA_PATH).object.quaternion.set(Math.SQRT1_2, 0, 0, Math.SQRT1_2);
    tree.setObject(CAMERA_PATH, camera);
    cameras.use(camera, false);
  }

  private setControl(message: Fields): void {
    const { controls } = this.stage;
    const name = string(message, "name");
    const keycode1 = stringOr(message, "keycode1", "");
    if (!Object.hasOwn(message, "value")) return controls.addButton(name, keycode1);
    const range = { min: number(message, "min"), max: number(message, "max"), step: number(message, "step") };
    if (!(range.step > 0) || !(range.max >= range.min)) {
      throw new Refused(`slider "${name}" must have a step above 0 and min <= max`);
    }
    controls.addSlider(name, range, number(message, "value"), keycode1, stringOr(message, "keycode2", ""));
  }

  /** Restores the state before the first message; the user's point of view stays. */
  reset(): void {
    const { tree, cameras, environment, player, controls } = this.stage;
    this.batches.clear();
    player.load(null);
    controls.clear();
    for (const name of [...tree.root.children.keys()]) tree.delete(`/${name}`);
    const camera = defaultCamera();
    environment.addDefaults(camera);
    cameras.use(camera, false);
    this.stage.request();
  }
}
