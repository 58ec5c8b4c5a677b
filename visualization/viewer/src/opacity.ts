// The opacity of a material is its own opacity, initial or set by `opacity` and `color`, times a
// factor that `modulated_opacity` sets for a part of the tree.

import { Material, Mesh, Object3D } from "three";

import { materialsOf } from "./dispose";

interface Own {
  opacity: number;
  /** Whether the material is transparent regardless of its opacity, for example if its texture has
   * holes. */
  transparent: boolean;
  depthWrite: boolean;
  factor: number;
}

const remembered = new WeakMap<Material, Own>();

function own(material: Material): Own {
  let state = remembered.get(material);
  if (state === undefined) {
    const { opacity, transparent, depthWrite } = material;
    state = { opacity, transparent: transparent && opacity >= 1, depthWrite, factor: 1 };
    remembered.set(material, state);
  }
  return state;
}

function apply(material: Material): void {
  const state = own(material);
  const opacity = state.opacity * state.factor;
  const transparent = state.transparent || opacity < 1;
  if (transparent !== material.transparent) material.needsUpdate = true;
  material.opacity = opacity;
  material.transparent = transparent;
  // Transparent surfaces must not hide what is behind them and drawn later.
  material.depthWrite = state.depthWrite && opacity >= 1;
}

/** Mostly transparent objects cast no shadow. */
function updateShadow(object: Object3D): void {
  if (!(object instanceof Mesh)) return;
  object.castShadow = materialsOf(object).some((material) => !material.transparent || material.opacity >= 0.5);
}

function each(root: Object3D, change: (state: Own) => void): void {
  root.traverse((object) => {
    const materials = materialsOf(object);
    for (const material of materials) {
      change(own(material));
      apply(material);
    }
    if (materials.length > 0) updateShadow(object);
  });
}

export function setOwnOpacity(root: Object3D, opacity: number): void {
  each(root, (state) => {
    state.opacity = opacity;
  });
}

export function setFactor(root: Object3D, factor: number): void {
  each(root, (state) => {
    state.factor = factor;
  });
}

/** Returns the opacity of the first material at or below `root`, without the factor; null if there
 * is none. */
export function ownOpacity(root: Object3D): number | null {
  let found: number | null = null;
  root.traverse((object) => {
    for (const material of materialsOf(object)) found ??= own(material).opacity;
  });
  return found;
}
