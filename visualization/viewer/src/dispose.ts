// Freeing memory of the graphics card, which three.js does not do by itself.

import { BufferGeometry, Material, Object3D, Texture } from "three";

type Owner = Object3D & { geometry?: unknown; material?: unknown; skeleton?: { dispose?: () => void }; dispose?: () => void };

export function materialsOf(object: Object3D): Material[] {
  const material = (object as Owner).material;
  const list: unknown[] = Array.isArray(material) ? material : [material];
  return list.filter((m): m is Material => m instanceof Material);
}

function disposeTexture(texture: Texture): void {
  const image: unknown = texture.image;
  if (typeof ImageBitmap !== "undefined" && image instanceof ImageBitmap) image.close();
  texture.dispose();
}

/** Frees the resources of `root` and everything below it. Every object owns its resources alone, so
 * nothing else uses them. */
export function disposeTree(root: Object3D): void {
  const textures = new Set<Texture>();
  root.traverse((object: Owner) => {
    if (object.geometry instanceof BufferGeometry) object.geometry.dispose();
    for (const material of materialsOf(object)) {
      for (const part of Object.values(material) as unknown[]) if (part instanceof Texture) textures.add(part);
      material.dispose();
    }
    object.skeleton?.dispose?.();
    // Lights own their shadow maps.
    object.dispose?.();
  });
  textures.forEach(disposeTexture);
}
