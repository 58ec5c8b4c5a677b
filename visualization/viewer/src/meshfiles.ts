// Mesh files inside messages: OBJ with its materials, STL, VTK, glTF.

import { BufferAttribute, BufferGeometry, Group, Mesh, Object3D } from "three";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { MTLLoader } from "three/examples/jsm/loaders/MTLLoader.js";
import { OBJLoader } from "three/examples/jsm/loaders/OBJLoader.js";
import { STLLoader } from "three/examples/jsm/loaders/STLLoader.js";

import type { Assets } from "./assets";
import { type Fields, isMap, Refused, string, stringOr } from "./check";
import { disposeTree } from "./dispose";
import type { Value } from "./msgpack";
import { parseVtk } from "./vtk";

/** Returns the content of a file as text; it may arrive as text or as bytes. */
function textOf(data: Value | undefined): string {
  if (typeof data === "string") return data;
  if (data instanceof Uint8Array) return new TextDecoder().decode(data);
  throw new Refused('"data" must be the text or bytes of a mesh file');
}

function bufferOf(data: Value | undefined): ArrayBuffer {
  if (data instanceof Uint8Array) return data.slice().buffer as ArrayBuffer;
  return new TextEncoder().encode(textOf(data)).buffer as ArrayBuffer;
}

/** Merges all triangles of an OBJ file into one geometry. Attributes that only some parts have
 * (texture coordinates) are 0 elsewhere. */
function mergeMeshes(group: Object3D): BufferGeometry {
  const parts: BufferGeometry[] = [];
  group.traverse((child) => {
    if (child instanceof Mesh) parts.push(child.geometry as BufferGeometry);
  });
  const size = (geometry: BufferGeometry): number => geometry.getAttribute("position").count;
  const total = parts.reduce((sum, part) => sum + size(part), 0);
  if (total === 0) throw new Refused("OBJ: the file has no faces");
  const merged = new BufferGeometry();
  for (const [name, width] of [["position", 3], ["normal", 3], ["uv", 2], ["color", 3]] as const) {
    if (!parts.some((part) => part.hasAttribute(name))) continue;
    const all = new Float32Array(width * total);
    if (name === "color") all.fill(1);
    let at = 0;
    for (const part of parts) {
      if (part.hasAttribute(name)) all.set(part.getAttribute(name).array as Float32Array, at);
      at += width * size(part);
    }
    merged.setAttribute(name, new BufferAttribute(all, width));
  }
  disposeTree(group);
  return merged;
}

/** Returns the geometry of a `_meshfile_geometry`. */
export function parseGeometry(fields: Fields): BufferGeometry {
  const format = string(fields, "format").toLowerCase();
  const data = fields["data"];
  if (format === "obj") return mergeMeshes(new OBJLoader().parse(textOf(data)));
  if (format === "stl") {
    const geometry = new STLLoader().parse(bufferOf(data));
    if (geometry.getAttribute("position") === undefined) throw new Refused("STL: the file has no triangles");
    return geometry;
  }
  if (format === "vtk") {
    const { positions, triangles } = parseVtk(textOf(data));
    const indexed = new BufferGeometry();
    indexed.setAttribute("position", new BufferAttribute(positions, 3));
    indexed.setIndex(new BufferAttribute(triangles, 1));
    // Each triangle gets its own corners: the mesh is shown flat, not smoothed.
    const flat = indexed.toNonIndexed();
    flat.computeVertexNormals();
    indexed.dispose();
    return flat;
  }
  throw new Refused(`the format of a mesh file must be obj, stl or vtk, got "${format}"`);
}

function resourcesOf(fields: Fields): { [name: string]: string } {
  const resources = fields["resources"];
  const out: { [name: string]: string } = {};
  if (!isMap(resources)) return out;
  for (const [name, value] of Object.entries(resources)) if (typeof value === "string") out[name] = value;
  return out;
}

function parseObjWithMaterials(fields: Fields, assets: Assets): Object3D {
  const loader = new OBJLoader();
  const library = stringOr(fields, "mtl_library", "");
  if (library !== "") {
    const materials = new MTLLoader(assets.manager(resourcesOf(fields))).parse(library, "");
    materials.preload();
    loader.setMaterials(materials);
  }
  const group = loader.parse(textOf(fields["data"]));
  if (!group.children.some((child) => "geometry" in child)) throw new Refused("OBJ: the file has no faces, lines or points");
  return group;
}

async function parseGltf(fields: Fields, assets: Assets): Promise<Object3D> {
  const loader = new GLTFLoader(assets.manager(resourcesOf(fields)));
  const gltf = await loader.parseAsync(bufferOf(fields["data"]), "");
  // glTF is y-up, the scene z-up.
  gltf.scene.rotateX(Math.PI / 2);
  return gltf.scene;
}

/** Returns the object of a `_meshfile_object`; `place` applies the matrix of the message. */
export function parseObject(fields: Fields, assets: Assets, place: (group: Group) => void): Object3D | Promise<Object3D> {
  const format = string(fields, "format").toLowerCase();
  const wrap = (content: Object3D): Object3D => {
    const group = new Group();
    group.add(content);
    place(group);
    return group;
  };
  if (format === "obj") return wrap(parseObjWithMaterials(fields, assets));
  if (format === "gltf" || format === "glb") return parseGltf(fields, assets).then(wrap);
  throw new Refused(`the format of a model file must be obj, gltf or glb, got "${format}"`);
}
