// Bundles the tests and runs them with node's test runner: `node test.mjs`.

import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const tests = (await readdir(join(here, "tests"))).filter((name) => name.endsWith(".test.ts"));
const out = await mkdtemp(join(here, "node_modules", ".tests-"));
try {
  await build({
    entryPoints: tests.map((name) => join(here, "tests", name)),
    bundle: true,
    platform: "node",
    format: "esm",
    outdir: out,
    outExtension: { ".js": ".mjs" },
    logLevel: "error",
  });
  const files = tests.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
  const { status } = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit", cwd: here });
  process.exitCode = status ?? 1;
} finally {
  await rm(out, { recursive: true, force: true });
}
