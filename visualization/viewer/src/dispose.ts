// Giving memory of the graphics card back: three frees nothing on its own.

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

/** Frees what `root` and everything below it hold. Every object owns its parts alone, so nothing else can miss them. */
export function disposeTree(root: Object3D): void {
  const textures = new Set<Texture>();
  root.traverse((object: Owner) => {
    if (object.geometry instanceof BufferGeometry) object.geometry.dispose();
    for (const material of materialsOf(object)) {
      for (const part of Object.values(material) as unknown[]) if (part instanceof Texture) textures.add(part);
      material.dispose();
    }
    object.skeleton?.dispose?.();
    // Lights hold the images of their shadows.
    object.dispose?.();
  });
  textures.forEach(disposeTexture);
}
