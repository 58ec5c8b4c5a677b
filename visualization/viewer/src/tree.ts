// The scene tree: named nodes below a root that rotates the messages' z-up world into three.js's
// y-up world.

import { Group, Matrix4, Object3D, Scene } from "three";

import { Refused } from "./check";
import { disposeTree } from "./dispose";
import { setFactor } from "./opacity";
import { MAX_LEVELS, names, OBJECT } from "./paths";

export class Node {
  readonly children = new Map<string, Node>();
  /** Factor set here by `modulated_opacity`, kept for objects that are added below later. */
  factor: number | null = null;
  /** Changes that wait for the object being loaded; null if none is. */
  deferred: (() => void)[] | null = null;
  /** Number of objects requested, so that one that loads slowly does not replace a later one. */
  generation = 0;

  constructor(
    readonly name: string,
    readonly parent: Node | null,
    public object: Object3D,
  ) {}

  get path(): string {
    return this.parent === null ? "" : `${this.parent.path}/${this.name}`;
  }

  /** Applies `change` to the object: now, or once it is loaded. */
  whenLoaded(change: () => void): void {
    if (this.deferred === null) change();
    else this.deferred.push(change);
  }
}

const MOST_KNOWN = 100_000;

const scratch = new Matrix4();

/** Sets the matrix of `object`, as position, rotation and scale unless it shears. */
export function setMatrix(object: Object3D, elements: number[]): void {
  object.matrix.fromArray(elements);
  object.matrix.decompose(object.position, object.quaternion, object.scale);
  scratch.compose(object.position, object.quaternion, object.scale);
  const largest = Math.max(1, ...elements.map(Math.abs));
  object.matrixAutoUpdate = scratch.elements.every((x, i) => Math.abs(x - (elements[i] as number)) <= 1e-9 * largest);
  object.matrixWorldNeedsUpdate = true;
}

export class Tree {
  readonly scene = new Scene();
  readonly root: Node;
  /** Increases whenever a node is added or removed or gets another object; used to detect changes
   * of the tree. */
  structure = 0;
  /** Cache of nodes by the paths in messages, because walking the tree costs more than everything
   * else. */
  private readonly known = new Map<string, Node>();

  /** `removed` is called for every object that leaves the scene, before it is disposed of. */
  constructor(private readonly removed: (object: Object3D) => void) {
    this.scene.name = "Scene";
    // Rotates z-up to y-up.
    this.scene.quaternion.set(-Math.SQRT1_2, 0, 0, Math.SQRT1_2);
    this.root = new Node("", null, this.scene);
  }

  /** Returns the node at `path`; null if there is none. */
  find(path: string): Node | null {
    let node: Node | undefined = this.root;
    for (const name of names(path)) {
      node = node.children.get(name);
      if (node === undefined) return null;
    }
    return node;
  }

  /** Returns the node at `path`; creates it if necessary. */
  reach(path: string): Node {
    let node = this.known.get(path);
    if (node === undefined) {
      node = this.make(path);
      if (this.known.size >= MOST_KNOWN) this.known.clear();
      this.known.set(path, node);
    }
    return node;
  }

  private make(path: string): Node {
    const list = names(path);
    if (list.length > MAX_LEVELS) throw new Refused(`a path must have at most ${MAX_LEVELS} levels, got ${list.length}`);
    let node = this.root;
    for (const name of list) {
      let child = node.children.get(name);
      if (child === undefined) {
        child = new Node(name, node, new Group());
        child.object.name = name;
        node.object.add(child.object);
        node.children.set(name, child);
        this.structure++;
      }
      node = child;
    }
    return node;
  }

  /** Puts `object` at `path`/<object>, replacing the previous one. */
  setObject(path: string, object: Object3D): Node {
    const node = this.reach(`${path}/${OBJECT}`);
    node.generation++;
    node.deferred = null;
    this.replace(node, object);
    return node;
  }

  /** Same as `setObject` with the result of `load`. Until it is loaded, the previous object stays
   * and changes to the new one wait. `done` is called at the end, with the error if there was one;
   * the previous object then stays. */
  setObjectLater(path: string, load: Promise<Object3D>, done: (error: unknown) => void): void {
    const node = this.reach(`${path}/${OBJECT}`);
    const generation = ++node.generation;
    node.deferred = [];
    const current = (): boolean => node.generation === generation && this.find(node.path) === node;
    load
      .then((object) => {
        if (!current()) {
          disposeTree(object);
          return;
        }
        const deferred = node.deferred ?? [];
        node.deferred = null;
        this.replace(node, object);
        for (const change of deferred) change();
      })
      .then(
        () => done(null),
        (error: unknown) => {
          if (current()) node.deferred = null;
          done(error ?? "failed");
        },
      );
  }

  private replace(node: Node, object: Object3D): void {
    const old = node.object;
    for (const child of node.children.values()) object.add(child.object);
    object.name = OBJECT;
    node.parent?.object.remove(old);
    node.parent?.object.add(object);
    node.object = object;
    for (let above: Node | null = node; above !== null; above = above.parent) {
      if (above.factor !== null) {
        setFactor(object, above.factor);
        break;
      }
    }
    this.removed(old);
    disposeTree(old);
    this.structure++;
  }

  /** Deletes `path` and everything below it. The root is never deleted; a missing path is ignored.
   */
  delete(path: string): void {
    const node = this.find(path);
    if (node === null || node.parent === null) return;
    node.parent.children.delete(node.name);
    this.known.clear();
    node.parent.object.remove(node.object);
    node.object.traverse((object) => this.removed(object));
    disposeTree(node.object);
    this.structure++;
  }

  /** Multiplies the opacity of everything at and below `node`, including objects added there later.
   */
  setFactor(node: Node, factor: number): void {
    const forget = (below: Node): void => {
      below.factor = null;
      below.children.forEach(forget);
    };
    forget(node);
    node.factor = factor;
    setFactor(node.object, factor);
  }
}
