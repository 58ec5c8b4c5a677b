// Objects as described by messages: three.js's Object JSON, format 4
// (https://github.com/mrdoob/three.js/wiki/JSON-Object-Scene-format-4), with two additions for mesh
// files. Only objects that can be drawn safely are built.

import { BufferGeometry, MathUtils, Mesh, Object3D, ObjectLoader } from "three";

import type { Assets } from "./assets";
import { array, asNumbers, type Fields, isMap, map, Refused, string } from "./check";
import { disposeTree, materialsOf } from "./dispose";
import { parseGeometry, parseObject } from "./meshfiles";
import type { Value } from "./msgpack";
import { setFactor } from "./opacity";
import { setMatrix } from "./tree";

const OBJECT_TYPES = new Set([
  "AmbientLight", "DirectionalLight", "Group", "HemisphereLight", "LOD", "Line", "LineLoop", "LineSegments", "Mesh",
  "Object3D", "OrthographicCamera", "PerspectiveCamera", "PointLight", "Points", "RectAreaLight", "SpotLight", "Sprite",
]);

// Excludes materials that contain programs for the graphics card.
const MATERIAL_TYPES = new Set([
  "LineBasicMaterial", "LineDashedMaterial", "MeshBasicMaterial", "MeshDepthMaterial", "MeshLambertMaterial",
  "MeshMatcapMaterial", "MeshNormalMaterial", "MeshPhongMaterial", "MeshPhysicalMaterial", "MeshStandardMaterial",
  "MeshToonMaterial", "PointsMaterial", "ShadowMaterial", "SpriteMaterial",
]);

/** Maximum number of pieces of a surface; more would only block the browser. */
const MOST_SEGMENTS = 1 << 20;
const MOST_DETAIL = 64;

function checkGeometry(fields: Fields): void {
  let pieces = 1;
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== "number") continue;
    if (!Number.isFinite(value)) throw new Refused(`geometry: "${name}" must be finite, got ${value}`);
    if (/segments$/i.test(name) || name === "steps") pieces *= Math.max(1, value);
    if (pieces > MOST_SEGMENTS) throw new Refused(`geometry: there must be at most ${MOST_SEGMENTS} pieces in all, got ${pieces} with "${name}" = ${value}`);
    if (name === "detail" && value > MOST_DETAIL) throw new Refused(`geometry: "detail" must be at most ${MOST_DETAIL}, got ${value}`);
  }
  if (string(fields, "type") !== "BufferGeometry") return;
  const data = map(fields, "data");
  const attributes = map(data, "attributes");
  const vertices = checkAttribute(map(attributes, "position"), "position", 3);
  for (const [name, attribute] of Object.entries(attributes)) {
    if (!isMap(attribute)) throw new Refused(`geometry: attribute "${name}" is not a map`);
    const count = checkAttribute(attribute, name, null);
    if (count < vertices) throw new Refused(`geometry: attribute "${name}" must have an element for each of ${vertices} vertices, got ${count}`);
  }
  if (isMap(data["index"])) {
    const list = data["index"]["array"];
    if (!Array.isArray(list) && !ArrayBuffer.isView(list)) throw new Refused('geometry: "index" must have an array of numbers');
    for (const i of list as Iterable<unknown>) {
      const good = typeof i === "number" && Number.isInteger(i) && i >= 0 && i < vertices;
      if (!good) throw new Refused(`geometry: the index must refer to one of ${vertices} vertices, got ${String(i)}`);
    }
  }
}

/** Returns the number of elements of an attribute. */
function checkAttribute(attribute: Fields, name: string, width: number | null): number {
  const list = attribute["array"];
  const itemSize = attribute["itemSize"];
  if (typeof itemSize !== "number" || !(itemSize >= 1 && itemSize <= 16) || (width !== null && itemSize !== width)) {
    throw new Refused(`geometry: the item size of attribute "${name}" must be ${width ?? "from 1 to 16"}, got ${String(itemSize)}`);
  }
  const numeric = Array.isArray(list) ? asNumbers(list) !== null : ArrayBuffer.isView(list);
  const length = Array.isArray(list) || ArrayBuffer.isView(list) ? (list as { length: number }).length : 0;
  if (!numeric || length % itemSize !== 0) throw new Refused(`geometry: attribute "${name}" must have an array of ${itemSize} numbers per element`);
  return length / itemSize;
}

function maps(of: Fields, name: string): Fields[] {
  if (!Object.hasOwn(of, name)) return [];
  return array(of, name).map((value, i) => {
    if (!isMap(value)) throw new Refused(`"${name}": element ${i} is not a map`);
    return value;
  });
}

/** Checks an object and its descendants, and adds what three.js needs. */
function checkObject(fields: Fields): void {
  const type = string(fields, "type");
  if (!OBJECT_TYPES.has(type)) throw new Refused(`objects of type "${type}" are not supported`);
  if (Object.hasOwn(fields, "matrix") && asNumbers(fields["matrix"])?.length !== 16) {
    throw new Refused('"matrix" must be 16 finite numbers');
  }
  fields["uuid"] ??= MathUtils.generateUUID();
  for (const child of maps(fields, "children")) checkObject(child);
}

/** three.js's loader, extended by the geometries of mesh files. */
class Loader extends ObjectLoader {
  override parseGeometries(json: unknown): ReturnType<ObjectLoader["parseGeometries"]> {
    const list = (json ?? []) as Fields[];
    const plain = list.filter((fields) => fields["type"] !== "_meshfile_geometry");
    const out = super.parseGeometries(plain as never);
    for (const fields of list) {
      if (fields["type"] === "_meshfile_geometry") out[string(fields, "uuid")] = parseGeometry(fields) as never;
    }
    return out;
  }
}

/** Checks that an object can be drawn; otherwise three.js would fail in every frame. */
function checkBuilt(root: Object3D): void {
  root.traverse((object: Object3D & { geometry?: unknown; material?: unknown }) => {
    if (!("geometry" in object) || object.type === "Sprite") return;
    const { geometry } = object;
    if (!(geometry instanceof BufferGeometry) || geometry.getAttribute("position") === undefined) {
      throw new Refused(`a ${object.type} has no geometry`);
    }
    const materials = materialsOf(object);
    if (materials.length === 0) throw new Refused(`a ${object.type} has no material`);
    if (!(object instanceof Mesh)) return;
    const lit = materials.some((m) => !("flatShading" in m && m.flatShading) && !m.type.includes("Basic"));
    if (lit && geometry.getAttribute("normal") === undefined) geometry.computeVertexNormals();
  });
}

/** Sets how objects from messages take part in light and shadow. */
function prepare(root: Object3D): Object3D {
  checkBuilt(root);
  root.traverse((object) => {
    if (object instanceof Mesh) {
      object.castShadow = true;
      object.receiveShadow = true;
    }
    // Colours of unlit materials are not tone-mapped.
    for (const material of materialsOf(object)) {
      if (/^(Line|Points|MeshBasic|Sprite)/.test(material.type)) material.toneMapped = false;
    }
  });
  // From here on, the initial opacities are the materials' own.
  setFactor(root, 1);
  return root;
}

/** Builds the object of a `set_object` message: at once, or later if files must be loaded first. */
export function build(json: Fields, assets: Assets): Object3D | Promise<Object3D> {
  const object = map(json, "object");
  if (object["type"] === "_meshfile_object") {
    const built = parseObject(object, assets, (group) => {
      const matrix = asNumbers(object["matrix"] as Value | undefined);
      if (matrix?.length === 16) setMatrix(group, matrix);
    });
    return built instanceof Promise ? built.then(prepare) : prepare(built);
  }
  checkObject(object);
  for (const geometry of maps(json, "geometries")) checkGeometry(geometry);
  for (const material of maps(json, "materials")) {
    const type = string(material, "type");
    if (!MATERIAL_TYPES.has(type)) throw new Refused(`materials of type "${type}" are not supported`);
    // Edges have no normals for lighting.
    if (material["wireframe"] === true) material["type"] = "MeshBasicMaterial";
  }
  const loader = new Loader(assets.manager());
  const { geometries, materials, images, textures } = json;
  const built = loader.parse({ metadata: {}, geometries, materials, images, textures, object } as never);
  try {
    return prepare(built);
  } catch (error) {
    disposeTree(built);
    throw error;
  }
}

