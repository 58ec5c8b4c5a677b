// `window.tarragon`: interface for browser tests. README.md describes it; it must stay stable.

import type { Camera, Object3D, Scene, WebGLRenderer } from "three";

import type { Node, Tree } from "./tree";

export interface TreeJson {
  path: string;
  type: string;
  visible: boolean;
  /** The local matrix, 16 numbers column by column. */
  matrix: number[];
  children: TreeJson[];
}

export interface Hook {
  readonly scene: Scene;
  readonly camera: Camera;
  readonly renderer: WebGLRenderer;
  tree(): TreeJson;
  node(path: string): Object3D | null;
  readonly messages: number;
  readonly errors: string[];
  readonly connected: boolean;
  /** Number of objects that are still being loaded from files. */
  readonly loading: number;
  renderNow(): void;
}

declare global {
  interface Window {
    tarragon: Hook;
  }
}

function describe(node: Node): TreeJson {
  const { object } = node;
  if (object.matrixAutoUpdate) object.updateMatrix();
  return {
    path: node.path,
    type: object.type,
    visible: object.visible,
    matrix: [...object.matrix.elements],
    children: [...node.children.values()].map(describe),
  };
}

/** Returns the part of the hook that is based on the tree. */
export function treeHook(tree: Tree): Pick<Hook, "tree" | "node"> {
  return {
    tree: () => describe(tree.root),
    node: (path) => {
      const object = tree.find(path)?.object ?? null;
      // Otherwise its matrix would be that of the last frame.
      if (object?.matrixAutoUpdate === true) object.updateMatrix();
      return object;
    },
  };
}
