// Vertices that move while the triangles between them stay.

import { BufferAttribute, Mesh, type Object3D } from "three";

import { Refused } from "./check";

function attribute(object: Object3D): BufferAttribute | null {
  if (!(object instanceof Mesh)) return null;
  const positions: unknown = object.geometry.getAttribute("position");
  return positions instanceof BufferAttribute && positions.array instanceof Float32Array ? positions : null;
}

/** Returns the positions of the vertices of a mesh; null if `object` is none. */
export function positionsOf(object: Object3D): Float32Array | null {
  return (attribute(object)?.array as Float32Array | undefined) ?? null;
}

/** Moves the vertices of a mesh: three coordinates for each vertex. */
export function moveVertices(object: Object3D, positions: Float32Array): void {
  const own = attribute(object);
  if (own === null) throw new Refused("the object has no vertices that can be moved");
  if (own.array.length !== positions.length) {
    throw new Refused(`there must be ${own.array.length / 3} positions, one for each vertex, got ${positions.length / 3}`);
  }
  if (!positions.every(Number.isFinite)) throw new Refused("the positions must be finite");
  own.array.set(positions);
  own.needsUpdate = true;
  const { geometry } = object as Mesh;
  // Flat faces need no normals.
  if (geometry.getAttribute("normal") !== undefined) geometry.computeVertexNormals();
  geometry.computeBoundingSphere();
  if (geometry.boundingBox !== null) geometry.computeBoundingBox();
}
