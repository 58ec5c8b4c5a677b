// Builds the page: `node build.mjs OUTDIR`. See README.md for what is written.

import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (out === undefined) {
  console.error("usage: node build.mjs OUTDIR");
  process.exit(2);
}

const three = join(here, "node_modules", "three");
const { version } = JSON.parse(await readFile(join(three, "package.json"), "utf8"));
const msgpack = join(here, "node_modules", "@msgpack", "msgpack");
const licences = [
  "The viewer of tarragon. Licence: Apache-2.0 OR MIT.",
  `It contains three.js ${version} (https://threejs.org):`,
  (await readFile(join(three, "LICENSE"), "utf8")).trim(),
  "It contains @msgpack/msgpack (https://github.com/msgpack/msgpack-javascript):",
  (await readFile(join(msgpack, "LICENSE"), "utf8")).trim(),
].join("\n\n");

const common = { bundle: true, minify: true, format: "iife", target: "es2022", charset: "utf8", write: false, logLevel: "error" };

const viewer = await build({
  ...common,
  entryPoints: [join(here, "src", "main.ts")],
  outfile: "viewer.js",
  legalComments: "external",
  define: { LICENSES: JSON.stringify(licences) },
});
const style = await build({ entryPoints: [join(here, "src", "style.css")], bundle: true, minify: true, write: false });
const boot = await build({ ...common, entryPoints: [join(here, "boot.js")], legalComments: "none" });

/** Makes the text of a script safe inside a <script> element: nothing in it ends the element or
 * begins another one. */
function inlineSafe(script) {
  // These sequences occur only within strings, where the backslash changes nothing. Comments are
  // removed.
  const safe = script.replace(/<(?=\/script|!--|script)/gi, "\\x3C");
  if (/<\/script|<!--|<script/i.test(safe)) throw new Error("the bundle cannot be inlined");
  return safe;
}

const ending = (name) => (file) => file.path.endsWith(name);
const script = inlineSafe(viewer.outputFiles.find(ending("viewer.js")).text);
// Checks that the result is still a program.
new Script(script);
const legal = viewer.outputFiles.find(ending(".LEGAL.txt"))?.text.trim() ?? "";

const page = (await readFile(join(here, "page.html"), "utf8")).replace(
  "/*TARRAGON_STYLE*/",
  () => style.outputFiles[0].text.trim(),
);
for (const marker of ["<!--TARRAGON_STATIC-->", "<!--TARRAGON_SCRIPT-->"]) {
  if (page.split(marker).length !== 2) throw new Error(`page.html must hold ${marker} once`);
}

await mkdir(out, { recursive: true });
const write = (name, content) => writeFile(join(out, name), content);
const zipped = gzipSync(script, { level: 9 });
// Byte 9 of the header names the operating system; a fixed value makes builds reproducible.
zipped[9] = 255;
await write("page.html", page);
await write("viewer.js", script);
await write("viewer.js.gz", zipped);
await write("boot.js", inlineSafe(boot.outputFiles[0].text.trim()));
await write("LICENSES.txt", `${[licences, legal].filter((text) => text !== "").join("\n\n")}\n`);
