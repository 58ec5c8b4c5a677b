// Background of the scene: a gradient, or an environment map that also lights shiny surfaces.

import {
  Color, DataTexture, EquirectangularReflectionMapping, LinearFilter, Object3D, PMREMGenerator, RGBAFormat,
  type Scene, SRGBColorSpace, Texture, type WebGLRenderer,
} from "three";
import { HDRLoader } from "three/examples/jsm/loaders/HDRLoader.js";

import type { Assets } from "./assets";
import { asNumbers, Refused } from "./check";
import type { Log } from "./log";
import type { Value } from "./msgpack";
import { roomLight } from "./room_light";

export interface Gradient {
  top: string;
  bottom: string;
}

/** Returns a gradient from bottom to top as an image one pixel wide. */
function gradientTexture(top: Color, bottom: Color): DataTexture {
  const rows = 256;
  const pixels = new Uint8Array(4 * rows);
  // Mixed in sRGB, which looks even to the eye.
  const [a, b] = [bottom, top].map((color) => color.getRGB({ r: 0, g: 0, b: 0 }, SRGBColorSpace)) as [Color, Color];
  for (let row = 0; row < rows; row++) {
    const t = row / (rows - 1);
    pixels.set([a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b), 1].map((x) => Math.round(255 * x)), 4 * row);
  }
  const texture = new DataTexture(pixels, 1, rows, RGBAFormat);
  texture.colorSpace = SRGBColorSpace;
  texture.minFilter = LinearFilter;
  texture.magFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

async function loadEquirectangular(url: string): Promise<Texture> {
  const response = await fetch(url);
  if (!response.ok) throw new Refused(`the server answered ${response.status}`);
  const buffer = await response.arrayBuffer();
  const head = new TextDecoder("latin1").decode(buffer.slice(0, 2));
  let texture: Texture;
  if (head === "#?") {
    const { width, height, data, type } = new HDRLoader().parse(buffer);
    texture = new DataTexture(data as Uint16Array<ArrayBuffer>, width, height, RGBAFormat, type);
    texture.minFilter = LinearFilter;
    texture.magFilter = LinearFilter;
    // The first row of the file is the top row.
    texture.flipY = true;
  } else {
    const image = await createImageBitmap(new Blob([buffer]), { imageOrientation: "flipY" });
    texture = new Texture(image as unknown as HTMLImageElement);
    texture.flipY = false;
    texture.colorSpace = SRGBColorSpace;
  }
  texture.mapping = EquirectangularReflectionMapping;
  texture.needsUpdate = true;
  return texture;
}

/** `/Background/<object>`. */
export class Background extends Object3D {
  override readonly type = "Background";
  /** Values set by messages; null where the theme decides. */
  top_color: Color | null = null;
  bottom_color: Color | null = null;
  environment_map = "";
  render_environment_map = true;

  private theme: Gradient = { top: "#ffffff", bottom: "#ffffff" };
  private gradient: Texture | null = null;
  private picture: Texture | null = null;
  private light: Texture | null = null;
  private room: Texture | null = null;
  private generation = 0;
  private readonly generator: PMREMGenerator;

  constructor(
    private readonly renderer: WebGLRenderer,
    private readonly assets: Assets,
    private readonly log: Log,
    private readonly changed: () => void,
  ) {
    super();
    this.generator = new PMREMGenerator(renderer);
  }

  setTheme(theme: Gradient): void {
    this.theme = theme;
    this.dropGradient();
  }

  /** Sets a property that only backgrounds have. Returns false for any other property. */
  set(property: string, value: Value): boolean {
    if (property === "top_color" || property === "bottom_color") {
      const list = typeof value === "number" ? null : asNumbers(value);
      if (typeof value === "number") this[property] = new Color(value);
      else if (list !== null && list.length >= 3) {
        this[property] = new Color().setRGB(list[0] as number, list[1] as number, list[2] as number, SRGBColorSpace);
      } else throw new Refused(`property "${property}" must be three numbers from 0 to 1`);
      this.dropGradient();
    } else if (property === "environment_map") {
      if (typeof value !== "string") throw new Refused('property "environment_map" must be an address, or "" for none');
      this.load(value);
    } else if (property === "render_environment_map") this.render_environment_map = Boolean(value);
    else return false;
    return true;
  }

  private dropGradient(): void {
    this.gradient?.dispose();
    this.gradient = null;
  }

  private dropPicture(): void {
    this.picture?.dispose();
    this.light?.dispose();
    this.picture = null;
    this.light = null;
  }

  private load(address: string): void {
    const generation = ++this.generation;
    this.environment_map = address;
    if (address === "") {
      this.dropPicture();
      return;
    }
    loadEquirectangular(this.assets.url(address)).then(
      (texture) => {
        if (generation !== this.generation) {
          texture.dispose();
          return;
        }
        this.dropPicture();
        this.picture = texture;
        this.light = this.generator.fromEquirectangular(texture).texture;
        this.changed();
      },
      (error: unknown) => this.log.failure(`environment map ${address.slice(0, 80)}`, error),
    );
  }

  /** Sets the background of `scene`, none if `shown` is false, and the light that belongs to it. */
  apply(scene: Scene, shown: boolean): void {
    this.room ??= roomLight(this.renderer);
    this.gradient ??= gradientTexture(
      this.top_color ?? new Color(this.theme.top),
      this.bottom_color ?? new Color(this.theme.bottom),
    );
    scene.environment = this.light ?? this.room;
    scene.environmentIntensity = this.light === null ? 0.35 : 1;
    const picture = this.render_environment_map ? this.picture : null;
    scene.background = shown ? (picture ?? this.gradient) : null;
  }

  /** Frees the memory on the graphics card. */
  override dispose(): void {
    this.generation++;
    this.dropGradient();
    this.dropPicture();
    this.room?.dispose();
    this.room = null;
    this.generator.dispose();
  }
}
