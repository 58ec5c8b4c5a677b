// Dragging of things by the user: with Alt held, the pointer takes hold of what is below it, and
// the server learns what is held where, and where to it is pulled. The page moves nothing itself.

import { type Camera, Mesh, type Object3D, Plane, Raycaster, Vector2, Vector3 } from "three";

import type { Encodable } from "./msgpack";
import { DEFAULTS, OBJECT } from "./paths";
import type { Node, Tree } from "./tree";

/** Returns the innermost node that holds `object`; that of a path, not of its <object>. */
export function nodeOf(tree: Tree, object: Object3D): Node {
  const chain: Object3D[] = [];
  for (let at: Object3D | null = object; at !== null && at !== tree.scene; at = at.parent) chain.unshift(at);
  let node = tree.root;
  for (const below of chain) {
    const child = [...node.children.values()].find((candidate) => candidate.object === below);
    if (child === undefined) break;
    node = child;
  }
  return node.name === OBJECT && node.parent !== null ? node.parent : node;
}

function isVisible(object: Object3D): boolean {
  for (let at: Object3D | null = object; at !== null; at = at.parent) if (!at.visible) return false;
  return true;
}

/** Returns the first visible surface along the ray of `raycaster`, without the page's own things;
 * null if there is none. */
export function pick(tree: Tree, raycaster: Raycaster): { node: Node; point: Vector3 } | null {
  const roots = [...tree.root.children].filter(([name]) => !DEFAULTS.has(name)).map(([, node]) => node.object);
  for (const { object, point } of raycaster.intersectObjects(roots)) {
    if (object instanceof Mesh && isVisible(object)) return { node: nodeOf(tree, object), point };
  }
  return null;
}

interface Held {
  pointer: number;
  path: string;
  /** The held point in the node's frame. */
  point: number[];
  /** Plane parallel to the picture in which the pointer moves. */
  plane: Plane;
}

export class Dragging {
  private held: Held | null = null;
  private readonly raycaster = new Raycaster();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly tree: Tree,
    private readonly camera: () => Camera,
    private readonly send: (message: Encodable) => void,
  ) {
    // Handled before the controls of the camera.
    canvas.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event), { capture: true });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const) {
      canvas.addEventListener(end, (event) => this.up(event), { capture: true });
    }
  }

  private aim(event: PointerEvent): void {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    const x = ((event.clientX - left) / width) * 2 - 1;
    const y = 1 - ((event.clientY - top) / height) * 2;
    this.raycaster.setFromCamera(new Vector2(x, y), this.camera());
  }

  private down(event: PointerEvent): void {
    if (!event.altKey || event.button !== 0 || this.held !== null) return;
    this.aim(event);
    const found = pick(this.tree, this.raycaster);
    if (found === null) return;
    const normal = this.camera().getWorldDirection(new Vector3());
    this.held = {
      pointer: event.pointerId,
      path: found.node.path,
      point: found.node.object.worldToLocal(found.point.clone()).toArray(),
      plane: new Plane().setFromNormalAndCoplanarPoint(normal, found.point),
    };
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.style.cursor = "grabbing";
    this.tell(found.point);
    this.take(event);
  }

  private move(event: PointerEvent): void {
    if (this.held?.pointer !== event.pointerId) return;
    this.aim(event);
    const point = this.raycaster.ray.intersectPlane(this.held.plane, new Vector3());
    if (point !== null) this.tell(point);
    this.take(event);
  }

  private up(event: PointerEvent): void {
    if (this.held?.pointer !== event.pointerId) return;
    this.held = null;
    this.canvas.style.cursor = "";
    this.send({ type: "drop" });
    this.take(event);
  }

  private take(event: PointerEvent): void {
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  /** Tells the server where to the held point is pulled, in the messages' world. */
  private tell(target: Vector3): void {
    if (this.held === null) return;
    const { path, point } = this.held;
    this.send({ type: "drag", path, point, target: this.tree.scene.worldToLocal(target.clone()).toArray() });
  }
}
