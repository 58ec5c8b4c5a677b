// The light of a neutral room, for reflective materials: bright above, darker below, with three
// soft lamps. Its reflections in rough surfaces have a closed form, nearly. With three.js's filter
// for any image, a page without a graphics card would be busy with them for two seconds.

import {
  BackSide, BoxGeometry, CubeCamera, HalfFloatType, LinearMipmapLinearFilter, Mesh, NoBlending, ShaderChunk,
  ShaderMaterial, type Texture, WebGLCubeRenderTarget, type WebGLRenderer,
} from "three";

/** Pixels of an edge of the sharpest level. */
const SIZE = 64;
/** The roughest level: three.js expects faces of 8 pixels. */
const LAST_LEVEL = Math.log2(SIZE) - 3;
/** Spread, in radians, of the sharpest reflection, and what a roughness of 1 adds. With these,
 * metal balls of roughness 0.1 and 0.5 are as bright as with three.js's filter within 4 %. */
const SHARPEST = 0.03;
const ROUGHEST = 0.75;

/** Brightness in a direction: two half spaces with a soft edge a little below the horizon, and
 * lamps whose light is that of a disc of 0.2 rad, however far it is spread. */
const BRIGHTNESS = /* glsl */ `
varying vec3 vWorldDirection;
uniform float spread;

float lamp(vec3 direction, vec3 position) {
  const float own = 0.206 * 0.206;
  float angle = acos(clamp(dot(direction, normalize(position)), -1.0, 1.0));
  float square = own + 2.0 * spread * spread;
  return 7.0 * own / square * exp(-angle * angle / square);
}

void main() {
  vec3 direction = normalize(vWorldDirection);
  float edge = 0.55 * 3.14159265;
  float below = acos(clamp(direction.y, -1.0, 1.0)) - edge;
  float light = mix(0.55, 0.28, smoothstep(-1.5 * spread, 1.5 * spread, below));
  light += lamp(direction, vec3(-4.0, 6.0, 4.0));
  light += lamp(direction, vec3(5.0, 5.0, 1.0));
  light += lamp(direction, vec3(0.0, 7.0, -4.0));
  gl_FragColor = vec4(vec3(light), 1.0);
}
`;

/** Returns the light as three.js's prefiltered environment maps have it: a cube map with a level
 * for each roughness. */
export function roomLight(renderer: WebGLRenderer): Texture {
  const target = new WebGLCubeRenderTarget(SIZE, {
    type: HalfFloatType, minFilter: LinearMipmapLinearFilter, generateMipmaps: false, depthBuffer: false,
  });
  const mipmaps = Array.from({ length: LAST_LEVEL + 1 }, (_, level) => ({ width: SIZE >> level, height: SIZE >> level }));
  Object.assign(target.texture, { mipmaps, isPMREMTexture: true });
  const spread = { value: 0 };
  const material = new ShaderMaterial({
    uniforms: { spread }, vertexShader: ShaderChunk.cube_vert, fragmentShader: BRIGHTNESS,
    side: BackSide, blending: NoBlending, depthTest: false, depthWrite: false,
  });
  const box = new Mesh(new BoxGeometry(), material);
  const camera = new CubeCamera(0.1, 10, target);
  mipmaps.forEach(({ width }, level) => {
    const roughness = 1 - Math.sqrt(1 - level / LAST_LEVEL);
    spread.value = SHARPEST + ROUGHEST * roughness * roughness;
    camera.activeMipmapLevel = level;
    target.viewport.set(0, 0, width, width);
    camera.update(renderer, box);
  });
  box.geometry.dispose();
  material.dispose();
  return target.texture;
}
