// A text at the origin of a node, with a constant size on the screen.

import { CanvasTexture, type Object3D, Sprite, SpriteMaterial, SRGBColorSpace } from "three";

import { disposeTree } from "./dispose";

const NAME = "<label>";
/** Height of the letters (CSS pixels). The canvas has `SHARPNESS` times as many. */
const FONT = 16;
const SHARPNESS = 2;
/** Height of a label as a share of the picture height, at a field of view of 75 degrees. */
const HEIGHT = 0.05;
const MAX_LENGTH = 200;

function draw(text: string): HTMLCanvasElement | null {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  if (context === null) return null;
  const font = `${FONT * SHARPNESS}px system-ui, sans-serif`;
  context.font = font;
  const [pad, height] = [8 * SHARPNESS, 26 * SHARPNESS];
  canvas.width = Math.ceil(context.measureText(text).width) + 2 * pad;
  canvas.height = height;
  context.fillStyle = "rgba(20, 24, 28, 0.78)";
  context.beginPath();
  context.roundRect(0, 0, canvas.width, height, 6 * SHARPNESS);
  context.fill();
  context.fillStyle = "#fff";
  // Resizing the canvas has reset its state.
  context.font = font;
  context.textBaseline = "middle";
  context.fillText(text, pad, height / 2);
  return canvas;
}

/** Shows `text` at the origin of `object`, replacing the previous text; removes it if `text` is
 * empty. */
export function setLabel(object: Object3D, text: string): void {
  const old = object.children.find((child) => child.name === NAME);
  if (old !== undefined) {
    object.remove(old);
    disposeTree(old);
  }
  const canvas = text === "" ? null : draw(text.slice(0, MAX_LENGTH));
  if (canvas === null) return;
  const map = new CanvasTexture(canvas);
  map.colorSpace = SRGBColorSpace;
  const material = new SpriteMaterial({ map, depthTest: false, sizeAttenuation: false, toneMapped: false, transparent: true });
  const sprite = new Sprite(material);
  sprite.name = NAME;
  sprite.renderOrder = 1;
  sprite.center.set(0.5, -0.2);
  sprite.scale.set((HEIGHT * canvas.width) / canvas.height, HEIGHT, 1);
  object.add(sprite);
}
