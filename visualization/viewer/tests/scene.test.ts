import assert from "node:assert/strict";
import { test } from "node:test";

import { BoxGeometry, Group, Mesh, MeshPhongMaterial, Object3D, PerspectiveCamera, PointLight, type BufferGeometry } from "three";

import { Player } from "../src/animation";
import { Assets } from "../src/assets";
import { Commands, type Stage } from "../src/commands";
import { Log } from "../src/log";
import { encode } from "../src/msgpack";
import { treeHook } from "../src/hook";
import { setMatrix, Tree } from "../src/tree";
import { parseVtk } from "../src/vtk";
import { captured } from "./captured";

const skip = captured() === null ? "the captures are not next to the repository" : false;
const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

// Textures create image elements; here they stay empty.
(globalThis as any).document = {
  baseURI: "http://localhost/",
  createElementNS: () => ({ addEventListener: () => undefined, removeEventListener: () => undefined }),
};

(globalThis as any).location = { protocol: "http:" };
globalThis.fetch = () => Promise.reject(new Error("tests use no network"));

/** A page without a screen: everything that messages act on, and the calls they made. */
function page() {
  const log = new Log();
  console.warn = () => undefined;
  const tree = new Tree(() => undefined);
  const asked: unknown[] = [];
  const ask = (what: string) => (...args: unknown[]) => void asked.push([what, ...args]);
  const note = new Proxy({}, { get: (_, name) => ask(String(name)) });
  const stage = {
    log, tree, assets: new Assets(log, null, () => undefined),
    cameras: { camera: new PerspectiveCamera(), use: ask("camera"), setTarget: ask("target") },
    environment: {}, player: new Player(tree, log, () => undefined), controls: note,
    request: () => undefined, realtimeRate: ask("rate"), showRealtimeRate: ask("show"),
    captureImage: ask("capture"), saveImage: ask("save"), enableWebxr: ask("webxr"), showControllers: ask("controllers"),
  } as unknown as Stage;
  tree.setObject("/Cameras/default/rotated", stage.cameras.camera);
  const commands = new Commands(stage);
  const send = (message: unknown): void => commands.handle(encode(message as never));
  const shape = (path: string, geometry: object = { type: "BoxGeometry" }, material: object = {}): void =>
    send({
      type: "set_object",
      path,
      object: {
        geometries: [{ uuid: "g", ...geometry }],
        materials: [{ uuid: "m", type: "MeshPhongMaterial", color: 0x804020, ...material }],
        object: { uuid: "o", type: "Mesh", geometry: "g", material: "m", matrix: IDENTITY },
      },
    });
  const property = (path: string, name: string, value: unknown): void => send({ type: "set_property", path, property: name, value });
  const object = (path: string): any => tree.find(path)?.object ?? null;
  const material = (path: string): MeshPhongMaterial => object(`${path}/<object>`).material;
  return { log, tree, commands, stage, asked, send, shape, property, object, material };
}

test("every recorded message is handled", { skip }, () => {
  const { commands, log, tree, asked } = page();
  tree.setObject("/Lights/SpotLight", new PointLight());
  const messages = captured()!;
  for (const { bytes } of messages) commands.handle(bytes);
  assert.equal(commands.count, messages.length);
  // Without a screen there is no background, and the files of the glTF are on the server.
  assert.deepEqual(log.errors.filter((text) => !text.includes("environment_map")), []);
  assert.ok(asked.some(([what]: any) => what === "addSlider"));
  assert.deepEqual(asked.filter(([what]: any) => what === "show").at(-1), ["show", true]);
});

test("recorded objects have their types and sizes", { skip }, () => {
  const { commands, object } = page();
  for (const { bytes, index } of captured()!) if (index <= 22) commands.handle(bytes);
  const types = { sphere: "Mesh", box: "Mesh", objm: "Group", vtk: "Mesh", pc: "Points", line: "Line", seg: "LineSegments", tri: "Mesh" };
  for (const [name, type] of Object.entries(types)) assert.equal(object(`/drake/s/${name}/<object>`).type, type, name);
  const count = (name: string): number => {
    const { index, attributes } = object(`/drake/s/${name}/<object>`).geometry as BufferGeometry;
    return (index ?? attributes["position"])!.count;
  };
  // Four faces of a tetrahedron, a hull of four, two triangles, three points, three segments.
  assert.deepEqual(["vtk", "convex", "tri", "pc", "seg"].map(count), [12, 12, 6, 3, 6]);
  assert.equal(object("/drake/s/box/<object>").material.color.getHex(), 0x00ff00);
  assert.equal(object("/drake/s/sphere_a/<object>").material.opacity, 0.5);
  assert.deepEqual(object("/drake/s/ell/<object>").scale.toArray(), [1, 2, 3]);
});

test("paths hold folders and objects, which can be replaced and deleted", () => {
  const { send, shape, object, tree, log } = page();
  shape("/a/b");
  shape("/a/b/c");
  const disposed: string[] = [];
  object("/a/b/<object>").geometry.addEventListener("dispose", () => disposed.push("b"));
  object("/a/b/c/<object>").geometry.addEventListener("dispose", () => disposed.push("c"));
  const folder = object("/a/b");
  shape("//a/b/");
  assert.equal(object("/a/b"), folder);
  assert.deepEqual(disposed, ["b"]);
  assert.deepEqual(folder.children.map((child: Object3D) => child.name).sort(), ["<object>", "c"]);
  send({ type: "delete", path: "/a/b/<object>" });
  assert.equal(object("/a/b/<object>"), null);
  assert.notEqual(object("/a/b/c/<object>"), null);
  send({ type: "delete", path: "/" });
  send({ type: "delete", path: "/not/there" });
  assert.notEqual(object("/a"), null);
  send({ type: "delete", path: "/a" });
  assert.equal(object("/a"), null);
  assert.deepEqual(disposed, ["b", "c"]);
  assert.equal(tree.find("/not"), null);
  assert.deepEqual(log.errors, []);
});

test("rigid, mirrored and sheared transforms are applied", () => {
  const { send, object } = page();
  const rigid = [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 1, 2, 3, 1];
  send({ type: "set_transform", path: "/a", matrix: rigid });
  assert.ok(object("/a").matrixAutoUpdate);
  assert.deepEqual(object("/a").position.toArray(), [1, 2, 3]);
  const shear = [1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  send({ type: "set_transform", path: "/a", matrix: shear });
  assert.equal(object("/a").matrixAutoUpdate, false);
  assert.deepEqual(object("/a").matrix.elements, shear);
  const mirror = new Group();
  setMatrix(mirror, [1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
  mirror.updateMatrix();
  assert.ok(mirror.matrixAutoUpdate && Math.abs(mirror.matrix.determinant() + 1) < 1e-12);
  // Setting a position discards the exact matrix.
  send({ type: "set_property", path: "/a", property: "position", value: [4, 5, 6] });
  assert.ok(object("/a").matrixAutoUpdate);
});

test("z of messages is up on the screen", () => {
  const { send, tree, object } = page();
  send({ type: "set_transform", path: "/a", matrix: [...IDENTITY.slice(0, 12), 1, 2, 3, 1] });
  tree.scene.updateMatrixWorld();
  const world = object("/a").matrixWorld.elements.slice(12, 15);
  [1, 3, -2].forEach((x, i) => assert.ok(Math.abs(world[i] - x) < 1e-12));
});

test("opacity, colour and the factor of a part of the tree combine", () => {
  const { shape, property, material, log } = page();
  shape("/r/a", { type: "SphereGeometry" }, { opacity: 0.8, transparent: true });
  property("/r", "modulated_opacity", 0.5);
  assert.equal(material("/r/a").opacity, 0.4);
  // Objects added later get the factor too, and keep their own opacity.
  shape("/r/b");
  assert.equal(material("/r/b").opacity, 0.5);
  assert.ok(material("/r/b").transparent && !material("/r/b").depthWrite);
  property("/r/a/<object>", "opacity", 1);
  assert.equal(material("/r/a").opacity, 0.5);
  property("/r", "modulated_opacity", 1);
  assert.equal(material("/r/a").opacity, 1);
  assert.ok(!material("/r/b").transparent && material("/r/b").depthWrite);
  property("/r/b", "color", [1, 0, 0.5, 0.25]);
  assert.equal(material("/r/b").color.getHex(), 0xff0080);
  assert.equal(material("/r/b").opacity, 0.25);
  property("/r/b/<object>", "material.opacity", 0.75);
  assert.equal(material("/r/b").opacity, 0.75);
  assert.deepEqual(log.errors, []);
});

test("dotted names set properties, and unknown ones are refused", () => {
  const { shape, property, object, material, tree, log } = page();
  shape("/a");
  tree.setObject("/l", new PointLight());
  property("/a/<object>", "material.shininess", 80);
  property("/a/<object>", "material.wireframe", true);
  property("/a/<object>", "material.color", [0, 1, 0]);
  property("/a/<object>", "scale", [1, 2, 3]);
  property("/l/<object>", "intensity", 7);
  property("/l/<object>", "color", [1, 0, 0]);
  property("/a", "visible", false);
  assert.equal(material("/a").shininess, 80);
  assert.equal(material("/a").wireframe, true);
  assert.equal(material("/a").color.getHex(), 0x00ff00);
  assert.deepEqual(object("/a/<object>").scale.toArray(), [1, 2, 3]);
  assert.equal(object("/l/<object>").intensity, 7);
  assert.equal(object("/l/<object>").color.getHex(), 0xff0000);
  assert.equal(object("/a").visible, false);
  assert.deepEqual(log.errors, []);
  for (const [name, value] of [
    ["material.nothing", 1], ["nothing.at.all", 1], ["material", 1], ["visible", 1], ["position", [1, 2]], ["scale", "big"],
    ["__proto__.polluted", 1], ["constructor.prototype.polluted", true], ["add", 1], ["material.color", "red"],
    ["quaternion", [0, 0, 0, Infinity]], ["opacity", null], ["top_color", [1, 0, 0]],
  ] as const) {
    const before = log.errors.length;
    property("/a/<object>", name, value);
    assert.equal(log.errors.length, before + 1, name);
  }
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
});

test("an object that cannot be built leaves the previous one", () => {
  const { shape, send, object, log } = page();
  shape("/a");
  const before = object("/a/<object>");
  const wrong: object[] = [
    { type: "NoGeometry" },
    { type: "SphereGeometry", widthSegments: 1e9 },
    { type: "SphereGeometry", radius: NaN },
    { type: "BufferGeometry", data: { attributes: {} } },
    { type: "BufferGeometry", data: { attributes: { position: { itemSize: 3, type: "Float32Array", array: [1, 2] } } } },
    { type: "BufferGeometry", data: { attributes: { position: { itemSize: 3, type: "Float32Array", array: [0, 0, 0] } }, index: { type: "Uint32Array", array: [0, 1, 2] } } },
    { type: "_meshfile_geometry", format: "dae", data: "" },
    { type: "_meshfile_geometry", format: "obj", data: "nothing" },
    { type: "_meshfile_geometry", format: "vtk", data: "nothing" },
  ];
  wrong.forEach((geometry, i) => {
    shape("/a", geometry);
    assert.equal(log.errors.length, i + 1, JSON.stringify(geometry));
    assert.equal(object("/a/<object>"), before);
  });
  const errors = log.errors.length;
  shape("/a", { type: "BoxGeometry" }, { type: "ShaderMaterial" });
  send({ type: "set_object", path: "/a", object: { object: { type: "Mesh", geometry: "none", material: "none" } } });
  send({ type: "set_object", path: "/a", object: { object: { type: "Scene" } } });
  send({ type: "set_object", path: "/a" });
  send({ type: "set_object", path: `${"/x".repeat(300)}`, object: { object: { type: "Group" } } });
  assert.equal(log.errors.length, errors + 5);
  assert.equal(object("/a/<object>"), before);
});

test("unknown messages and messages with programs are logged once", () => {
  const { send, commands, log } = page();
  for (let i = 0; i < 3; i++) send({ type: "dance" });
  send({ type: "set_render_callback", callback: "while (true) {}" });
  send([1, 2, 3]);
  send({ path: "/a" });
  commands.handle(new Uint8Array([0xc1]));
  assert.equal(commands.count, 7);
  assert.equal(log.errors.length, 5);
  assert.match(log.errors[1] as string, /runs none/);
});

test("an animation moves the scene and restores it", () => {
  const { send, object, stage } = page();
  send({ type: "set_transform", path: "/a", matrix: [...IDENTITY.slice(0, 12), 9, 9, 9, 1] });
  const tracks = [{ name: ".position", type: "vector3", keys: [{ time: 0, value: [0, 0, 0] }, { time: 10, value: [1, 0, 0] }] }];
  const load = (clampWhenFinished: boolean): void =>
    send({
      type: "set_animation",
      animations: [{ path: "/a", clip: { fps: 10, name: "default", tracks } }, { path: "/gone", clip: { fps: 10, name: "default", tracks } }],
      options: { play: true, loopMode: 2201, repetitions: 1, clampWhenFinished },
    });
  load(true);
  const { player } = stage;
  assert.ok(player.step(100));
  assert.ok(player.step(100.5));
  assert.equal(object("/a").position.x, 0.5);
  assert.equal(object("/gone"), null);
  assert.ok(!player.step(102));
  assert.equal(object("/a").position.x, 1);
  player.reset();
  assert.deepEqual(object("/a").position.toArray(), [9, 9, 9]);
  load(false);
  player.step(0);
  player.step(5);
  assert.deepEqual(object("/a").position.toArray(), [9, 9, 9]);
  player.seek(0.25);
  assert.equal(object("/a").position.x, 0.25);
  player.speed = 2;
  player.play();
  player.step(0);
  player.step(0.25);
  assert.equal(object("/a").position.x, 0.75);
  send({ type: "set_animation", animations: [], options: {} });
  assert.equal(player.clip, null);
});

test("a slow object does not replace a later one, and receives the changes that waited", async () => {
  const { tree } = page();
  const finish: ((object: Object3D) => void)[] = [];
  const later = (): Promise<Object3D> => new Promise((resolve) => finish.push(resolve));
  const done: unknown[] = [];
  tree.setObjectLater("/a", later(), (error) => done.push(error));
  tree.setObjectLater("/a", later(), (error) => done.push(error));
  const node = tree.find("/a/<object>")!;
  node.whenLoaded(() => node.object.position.set(1, 2, 3));
  const [first, second] = [new Group(), new Group()];
  finish[1]!(second);
  finish[0]!(first);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(node.object, second);
  assert.deepEqual(second.position.toArray(), [1, 2, 3]);
  assert.deepEqual(done, [null, null]);
  tree.setObjectLater("/a", Promise.reject(new Error("no")), (error) => done.push(error));
  tree.setObjectLater("/b", later(), (error) => done.push(error));
  tree.delete("/b");
  finish[2]!(new Group());
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(node.object, second);
  assert.equal(tree.find("/b"), null);
  assert.deepEqual(done.map(String), ["null", "null", "Error: no", "null"]);
});

test("the hook shows paths, types and matrices", () => {
  const { tree, shape, send } = page();
  shape("/a");
  send({ type: "set_transform", path: "/a", matrix: [...IDENTITY.slice(0, 12), 1, 2, 3, 1] });
  const { tree: show, node } = treeHook(tree);
  const a = show().children.find((child) => child.path === "/a")!;
  assert.deepEqual([a.type, a.visible, a.matrix.slice(12)], ["Group", true, [1, 2, 3, 1]]);
  assert.deepEqual(a.children.map((child) => [child.path, child.type]), [["/a/<object>", "Mesh"]]);
  assert.equal(node("/a/<object>")?.type, "Mesh");
  assert.equal(node("/b"), null);
});

const VTK = (cells: string, types: string): string =>
  `# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n0 0 0 1 0 0 0 1 0 0 0 1 1 1 1\n${cells}\n${types}\n`;

test("VTK: the surface of tetrahedra encloses their volume for either numbering", () => {
  for (const first of ["4 0 1 2 3", "4 0 2 1 3"]) {
    const { positions, triangles } = parseVtk(VTK(`CELLS 2 10\n${first}\n4 1 2 3 4`, "CELL_TYPES 2\n10 10"));
    // Two tetrahedra that share a face have six other faces.
    assert.equal(triangles.length, 18);
    const point = (i: number): number[] => [...positions.subarray(3 * i, 3 * i + 3)];
    let volume = 0;
    for (let i = 0; i < triangles.length; i += 3) {
      const [a, b, c] = [0, 1, 2].map((k) => point(triangles[i + k]!)) as [number[], number[], number[]];
      volume += (a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) + a[1]! * (b[2]! * c[0]! - b[0]! * c[2]!) + a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!)) / 6;
    }
    // 1/6, and 1/3 of the other one: the corner cut off a cube, and the next piece.
    assert.ok(Math.abs(volume - 0.5) < 1e-12, String(volume));
  }
});

test("VTK: format 5 is read, and unsupported files are refused", () => {
  const five = VTK("CELLS 2 4\nOFFSETS vtktypeint64\n0 4\nCONNECTIVITY vtktypeint64\n0 1 2 3", "CELL_TYPES 1\n10").replace("3.0", "5.1");
  assert.equal(parseVtk(five).triangles.length, 12);
  const bad: [string, RegExp][] = [
    ["", /first line/],
    ["# vtk DataFile Version 3.0\nx\nBINARY\n", /only ASCII/],
    [VTK("CELLS 1 5\n4 0 1 2 9", "CELL_TYPES 1\n10"), /one of 5 points, got 9/],
    [VTK("CELLS 1 5\n4 0 1 x 3", "CELL_TYPES 1\n10"), /got "x"/],
    [VTK("CELLS 99999999 5\n4 0 1 2 3", "CELL_TYPES 1\n10"), /the number of CELLS/],
    [VTK("CELLS 1 3\n2 0 1", "CELL_TYPES 1\n3"), /must have tetrahedra/],
  ];
  for (const [text, message] of bad) assert.throws(() => parseVtk(text), { message });
});

test("boxes cast shadows unless they are mostly transparent", () => {
  const { shape, property, object } = page();
  shape("/a");
  const box = object("/a/<object>") as Mesh<BoxGeometry>;
  assert.ok(box.castShadow && box.receiveShadow);
  property("/a", "modulated_opacity", 0.3);
  assert.ok(!box.castShadow);
  property("/a", "modulated_opacity", 1);
  assert.ok(box.castShadow);
});

test("damaged messages are refused or harmless, and the scene can still be drawn", { skip }, () => {
  const { commands, tree } = page();
  const messages = captured()!.map((m) => m.bytes);
  let state = 7;
  const random = (below: number): number => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 8) % below;
  const begin = performance.now();
  for (let round = 0; round < 5000; round++) {
    const bytes = messages[random(messages.length)]!.slice();
    for (let change = random(4); change >= 0; change--) bytes[random(bytes.length)] = random(256);
    commands.handle(bytes);
  }
  tree.scene.updateMatrixWorld();
  assert.equal(commands.count, 5000);
  // A message takes well below a millisecond; one that made the page hang would take longer than
  // all of them.
  assert.ok(performance.now() - begin < 20_000);
});
