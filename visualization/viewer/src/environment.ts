// Contents of every scene before any message: lights, grid, axes, background and camera, at the
// paths and with the property names known from Drake.

import {
  AmbientLight, AxesHelper, BufferAttribute, BufferGeometry, Color, DirectionalLight, GridHelper, HemisphereLight,
  type LineBasicMaterial, MathUtils, Mesh, Object3D, PerspectiveCamera, PlaneGeometry, PointLight, ShadowMaterial, SpotLight,
  type WebGLRenderer,
} from "three";

import type { Assets } from "./assets";
import { Background, type Gradient } from "./background";
import type { Log } from "./log";
import { OBJECT } from "./paths";
import { ShadowFit } from "./shadows";
import type { Tree } from "./tree";

export interface Look {
  gradient: Gradient;
  /** Background colour of the page itself, where no background is drawn. */
  plain: string;
  gridLine: string;
  gridCentre: string;
  shadow: number;
}

export const LOOKS: Record<"light" | "dark", Look> = {
  light: {
    gradient: { top: "#f4f6fa", bottom: "#bcc5d2" },
    plain: "#ffffff",
    gridLine: "#8d97a5",
    gridCentre: "#525c6b",
    shadow: 0.32,
  },
  dark: {
    gradient: { top: "#39404b", bottom: "#14171c" },
    plain: "#16181d",
    gridLine: "#6a7482",
    gridCentre: "#a8b2c0",
    shadow: 0.5,
  },
};

const GRID_SIZE = 20;
const GRID_CELLS = 40;

/** `/Render Settings/<object>`. */
class RenderConfig extends Object3D {
  override readonly type = "RenderConfig";
  exposure = 1;
}

/** Draws lines slightly in front of their position, about a millimetre at close range, so that a
 * ground at the same height does not hide them. */
function lift(material: LineBasicMaterial): void {
  material.onBeforeCompile = (shader) => {
    const project = "#include <project_vertex>";
    shader.vertexShader = shader.vertexShader.replace(project, `${project}\ngl_Position.z -= 2e-6 * gl_Position.w;`);
  };
}

/** Returns the grid lines in pieces of one cell, so that each end can have its own opacity. */
function gridLines(): BufferGeometry {
  const at = (i: number): number => (i - GRID_CELLS / 2) * (GRID_SIZE / GRID_CELLS);
  const points: number[] = [];
  for (let i = 0; i <= GRID_CELLS; i++) {
    for (let k = 0; k < GRID_CELLS; k++) points.push(at(k), 0, at(i), at(k + 1), 0, at(i), at(i), 0, at(k), at(i), 0, at(k + 1));
  }
  return new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
}

/** Returns 1 near the origin and 0 at the edge of the grid. */
function fade(x: number, z: number): number {
  return 1 - MathUtils.smoothstep(Math.hypot(x, z), 2.5, GRID_SIZE / 2);
}

/** Returns a grid of half metres that fades out away from the origin and receives shadows. */
function makeGrid(): GridHelper {
  const grid = new GridHelper(GRID_SIZE, GRID_CELLS);
  grid.geometry.dispose();
  grid.geometry = gridLines();
  grid.quaternion.set(Math.SQRT1_2, 0, 0, Math.SQRT1_2);
  const material = grid.material as LineBasicMaterial;
  material.transparent = true;
  material.depthWrite = false;
  material.toneMapped = false;
  material.opacity = 0.75;
  lift(material);
  const ground = new Mesh(new PlaneGeometry(200, 200), new ShadowMaterial({ depthWrite: false }));
  ground.rotateX(-Math.PI / 2);
  // Below objects that stand on the ground, or are the ground.
  ground.position.y = -0.002;
  ground.receiveShadow = true;
  ground.renderOrder = -1;
  ground.name = "shadow";
  grid.add(ground);
  return grid;
}

function paintGrid(grid: Object3D, look: Look): void {
  if (!(grid instanceof GridHelper)) return;
  const { geometry } = grid;
  const position = geometry.getAttribute("position");
  const colors = new Float32Array(4 * position.count);
  const [line, centre] = [new Color(look.gridLine), new Color(look.gridCentre)];
  for (let segment = 0; segment < position.count; segment += 2) {
    const [x0, z0, x1, z1] = [position.getX(segment), position.getZ(segment), position.getX(segment + 1), position.getZ(segment + 1)];
    const { r, g, b } = (x0 === 0 && x1 === 0) || (z0 === 0 && z1 === 0) ? centre : line;
    colors.set([r, g, b, fade(x0, z0), r, g, b, fade(x1, z1)], 4 * segment);
  }
  geometry.setAttribute("color", new BufferAttribute(colors, 4));
  for (const child of grid.children) {
    if (child instanceof Mesh && child.material instanceof ShadowMaterial) child.material.opacity = look.shadow;
  }
}

function keyLight(): DirectionalLight {
  const light = new DirectionalLight(0xffffff, 1.8);
  light.position.set(-2.5, -3.5, 6);
  light.castShadow = true;
  light.shadow.mapSize.set(1024, 1024);
  light.shadow.radius = 4;
  light.shadow.bias = -0.0008;
  return light;
}

function at<T extends Object3D>(object: T, x: number, y: number, z: number): T {
  object.position.set(x, y, z);
  return object;
}

export class Environment {
  private look: Look = LOOKS.light;
  private readonly shadowFits = new WeakMap<DirectionalLight, ShadowFit>();
  private structure = -1;

  constructor(
    private readonly tree: Tree,
    private readonly renderer: WebGLRenderer,
    private readonly assets: Assets,
    private readonly log: Log,
    private readonly changed: () => void,
  ) {}

  /** Adds everything that exists by default to an empty tree; `camera` is put where scripts look
   * for it. */
  addDefaults(camera: PerspectiveCamera): void {
    const { tree } = this;
    const set = (path: string, object: Object3D): void => {
      tree.setObject(path, object);
    };
    set("/Background", new Background(this.renderer, this.assets, this.log, this.changed));
    set("/Render Settings", new RenderConfig());
    set("/Lights/SpotLight", at(new SpotLight(0xffffff, 30), 1.5, 1.5, 2));
    tree.reach("/Lights/SpotLight").object.visible = false;
    set("/Lights/PointLightNegativeX", at(new PointLight(0xffffff, 3, 10), 1.5, 1.5, 2));
    set("/Lights/PointLightPositiveX", at(new PointLight(0xffffff, 3, 10), -1.5, -1.5, 2));
    set("/Lights/AmbientLight", new AmbientLight(0xffffff, 0.3));
    set("/Lights/FillLight", at(new DirectionalLight(0xffffff, 0.5), -10, -10, 0));
    set("/Lights/DirectionalLight", keyLight());
    // The direction of the sky is that of the light's position: up in the scene.
    set("/Lights/SkyLight", at(new HemisphereLight(0xf3f6ff, 0x8b8578, 0.9), 0, 0, 1));
    set("/Grid", makeGrid());
    const axes = new AxesHelper(0.5);
    const material = axes.material as LineBasicMaterial;
    material.toneMapped = false;
    // Drawn after the grid, two lines of which coincide with the axes.
    material.transparent = true;
    axes.renderOrder = 1;
    lift(material);
    set("/Axes", axes);
    tree.reach("/Cameras/default/rotated").object.quaternion.set(Math.SQRT1_2, 0, 0, Math.SQRT1_2);
    set("/Cameras/default/rotated", camera);
    this.setLook(this.look);
  }

  setLook(look: Look): void {
    this.look = look;
    const background = this.background();
    if (background !== null) background.setTheme(look.gradient);
    const grid = this.tree.find(`/Grid/${OBJECT}`);
    if (grid !== null) paintGrid(grid.object, look);
    this.renderer.setClearColor(look.plain, 1);
  }

  private background(): Background | null {
    const object = this.tree.find(`/Background/${OBJECT}`)?.object;
    return object instanceof Background ? object : null;
  }

  /** Called before each picture. Updates what depends on the state of the tree. */
  update(now: number): void {
    const { scene } = this.tree;
    const background = this.background();
    if (background === null) {
      scene.background = null;
      scene.environment = null;
    } else background.apply(scene, background.visible && (background.parent?.visible ?? true));
    const config = this.tree.find(`/Render Settings/${OBJECT}`)?.object;
    if (config instanceof RenderConfig) this.renderer.toneMappingExposure = config.exposure;
    const force = this.structure !== this.tree.structure;
    this.structure = this.tree.structure;
    for (const node of this.tree.find("/Lights")?.children.values() ?? []) {
      const light = node.children.get(OBJECT)?.object;
      if (light instanceof DirectionalLight && light.castShadow && light.visible && node.object.visible) {
        let fit = this.shadowFits.get(light);
        if (fit === undefined) this.shadowFits.set(light, (fit = new ShadowFit()));
        fit.update(light, scene, now, force);
      }
    }
  }
}
