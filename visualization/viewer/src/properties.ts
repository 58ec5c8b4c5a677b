// Properties of nodes. Some names have a special meaning. Any other name is a chain of names
// separated by dots, such as "material.shininess", that leads from the object to an existing value,
// which is replaced by one of the same kind.

import { Color, Light, Material, Object3D, SRGBColorSpace } from "three";

import { Background } from "./background";
import { asNumbers, Refused } from "./check";
import { materialsOf } from "./dispose";
import { setLabel } from "./label";
import type { Value } from "./msgpack";
import { setOwnOpacity } from "./opacity";
import { OBJECT } from "./paths";
import type { Node, Tree } from "./tree";

function finite(name: string, value: Value): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new Refused(`property "${name}" must be a finite number`);
}

function vector(name: string, value: Value, lengths: number[]): number[] {
  const list = asNumbers(value);
  if (list !== null && lengths.includes(list.length)) return list;
  throw new Refused(`property "${name}" must be ${lengths.join(" or ")} finite numbers`);
}

/** Sets a colour: red, green and blue from 0 to 1 in sRGB, and optionally alpha. */
function setColor(object: Object3D, value: number[]): void {
  const [r, g, b, alpha] = value as [number, number, number, number?];
  object.traverse((part) => {
    if (part instanceof Light) part.color.setRGB(r, g, b, SRGBColorSpace);
    for (const material of materialsOf(part)) {
      if ("color" in material && material.color instanceof Color) material.color.setRGB(r, g, b, SRGBColorSpace);
    }
  });
  if (alpha !== undefined) setOwnOpacity(object, alpha);
}

/** Returns an object to automatic matrices, computed from position, rotation and scale. */
function byParts(object: Object3D): Object3D {
  object.matrixAutoUpdate = true;
  return object;
}

type Setter = (tree: Tree, node: Node, value: Value) => void;

const NAMED: Record<string, Setter> = {
  visible: (_tree, node, value) => {
    if (typeof value !== "boolean") throw new Refused('property "visible" must be true or false');
    node.object.visible = value;
  },
  position: (_tree, node, value) => {
    byParts(node.object).position.fromArray(vector("position", value, [3]));
  },
  quaternion: (_tree, node, value) => {
    byParts(node.object).quaternion.fromArray(vector("quaternion", value, [4]) as [number, number, number, number]).normalize();
  },
  scale: (_tree, node, value) => {
    const list = vector("scale", typeof value === "number" ? [value, value, value] : value, [3]);
    byParts(node.object).scale.fromArray(list);
  },
  color: (_tree, node, value) => setColor(node.object, vector("color", value, [3, 4])),
  opacity: (_tree, node, value) => setOwnOpacity(node.object, finite("opacity", value)),
  label: (_tree, node, value) => {
    if (typeof value !== "string") throw new Refused('property "label" must be a text');
    setLabel(node.object, value);
  },
  modulated_opacity: (tree, node, value) => tree.setFactor(node, finite("modulated_opacity", value)),
};

const BACKGROUND = new Set(["top_color", "bottom_color", "environment_map", "render_environment_map"]);

/** Names that lead out of the scene. */
const FORBIDDEN = new Set(["__proto__", "prototype", "constructor", "parent", "userData"]);

function assign(holder: object, name: string, value: Value, chain: string): void {
  const fields = holder as { [key: string]: unknown };
  const old = name in fields && !FORBIDDEN.has(name) ? fields[name] : undefined;
  const list = asNumbers(value);
  if (old instanceof Color) {
    if (typeof value === "number") old.setHex(value);
    else if (list?.length === 3) old.setRGB(list[0] as number, list[1] as number, list[2] as number, SRGBColorSpace);
    else throw new Refused(`property "${chain}" must be a colour: 0xRRGGBB or three numbers`);
  } else if (typeof old === "object" && old !== null && "fromArray" in old && "toArray" in old) {
    const target = old as { fromArray(list: number[]): void; toArray(): unknown[] };
    if (list === null || list.length !== target.toArray().filter((x) => typeof x === "number").length) {
      throw new Refused(`property "${chain}" must be as many finite numbers as before`);
    }
    target.fromArray(list);
  } else if (typeof old === "number" && typeof value === "number" && Number.isFinite(value)) fields[name] = value;
  else if (typeof old === "boolean" && (typeof value === "boolean" || typeof value === "number")) fields[name] = Boolean(value);
  else throw new Refused(`property "${chain}" does not exist or has another type`);
}

function setChain(object: Object3D, chain: string, value: Value): void {
  const names = chain.split(".");
  const last = names.pop() ?? "";
  const holders: object[] = [object];
  for (const name of names) {
    const before = holders.at(-1) as { [key: string]: unknown };
    const next = name in before && !FORBIDDEN.has(name) ? before[name] : undefined;
    if (typeof next !== "object" || next === null) throw new Refused(`property "${chain}": there is no "${name}"`);
    holders.push(next);
  }
  const holder = holders.at(-1) as object;
  if (holder instanceof Material && last === "opacity") {
    // All opacities are set through the same function.
    setOwnOpacity(object, finite(chain, value));
    return;
  }
  assign(holder, last, value, chain);
  for (const part of holders) if (part instanceof Material) part.needsUpdate = true;
  if (["position", "quaternion", "rotation", "scale"].includes(names[0] ?? last)) byParts(object);
  if ("updateProjectionMatrix" in object) (object as { updateProjectionMatrix(): void }).updateProjectionMatrix();
}

/** Sets `property` of the node at `path`; creates the node if necessary. */
export function setProperty(tree: Tree, path: string, property: string, value: Value): void {
  let node = tree.reach(path);
  if (BACKGROUND.has(property) && !(node.object instanceof Background)) {
    const inner = node.children.get(OBJECT);
    if (inner === undefined || !(inner.object instanceof Background)) {
      throw new Refused(`property "${property}" exists only on the background`);
    }
    node = inner;
  }
  node.whenLoaded(() => {
    const named = Object.hasOwn(NAMED, property) ? NAMED[property] : undefined;
    if (named !== undefined) named(tree, node, value);
    else if (node.object instanceof Background && node.object.set(property, value)) return;
    else setChain(node.object, property, value);
  });
}

/** Returns the value of a property that an animation is about to change; null if it cannot be read.
 */
export function getProperty(object: Object3D, property: string): Value {
  let value: unknown = object;
  for (const name of property.split(".")) {
    if (typeof value !== "object" || value === null || FORBIDDEN.has(name)) return null;
    value = (value as { [key: string]: unknown })[name];
  }
  if (typeof value === "boolean" || typeof value === "number") return value;
  if (value instanceof Color) return value.getHex();
  if (typeof value === "object" && value !== null && "toArray" in value) {
    const list = (value as { toArray(): unknown[] }).toArray();
    return asNumbers(list as Value[]);
  }
  return null;
}
