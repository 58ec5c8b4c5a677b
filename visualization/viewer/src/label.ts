// A text at the origin of a node, of the same size wherever it is looked at from.

import { CanvasTexture, type Object3D, Sprite, SpriteMaterial, SRGBColorSpace } from "three";

import { disposeTree } from "./dispose";

const NAME = "<label>";
/** Height of the letters (CSS pixels), of which a screen has many more in the same place. */
const FONT = 16;
const SHARPNESS = 2;
/** The height of a label as a share of the picture's, at a field of view of 75 degrees. */
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
  // Sizing the canvas has set everything back.
  context.font = font;
  context.textBaseline = "middle";
  context.fillText(text, pad, height / 2);
  return canvas;
}

/** Shows `text` at the origin of `object` in place of the text before; nothing if it is empty. */
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
