// Paths of the scene tree: "/"-separated names; "/a//b/" is "/a/b".

/** The name of the child that holds what `set_object` has set. */
export const OBJECT = "<object>";

/** The folders below the root that every page has. */
export const DEFAULTS = new Set(["Axes", "Background", "Cameras", "Grid", "Lights", "Render Settings"]);

/** The names along `path`. */
export function names(path: string): string[] {
  return path.split("/").filter((name) => name !== "");
}

/** `path` with one slash before each name; the root is "". */
export function normal(path: string): string {
  return names(path).map((name) => `/${name}`).join("");
}

/** Deeper paths are refused: each level is a node of the scene, walked in every frame. */
export const MAX_LEVELS = 256;
