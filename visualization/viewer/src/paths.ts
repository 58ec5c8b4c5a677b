// Paths of the scene tree: names separated by "/"; "/a//b/" equals "/a/b".

/** Name of the child that holds the object of `set_object`. */
export const OBJECT = "<object>";

/** Folders below the root that every page has. */
export const DEFAULTS = new Set(["Axes", "Background", "Cameras", "Grid", "Lights", "Render Settings"]);

/** Returns the names along `path`. */
export function names(path: string): string[] {
  return path.split("/").filter((name) => name !== "");
}

/** Returns `path` with one slash before each name; the root is "". */
export function normal(path: string): string {
  return names(path).map((name) => `/${name}`).join("");
}

/** Maximum number of levels of a path: each level is a node of the scene, visited in every frame.
 */
export const MAX_LEVELS = 256;
