// Every check of the project, in the order in which a failure is cheapest to read: types, lint, then
// tests. Ends with one plain line, `N passed, N failed`. Arguments narrow the tests to paths that
// contain them: `pnpm test runners/core`.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { ensureEnvironment } from "./ensure-environment.ts";

const repository = join(dirname(fileURLToPath(import.meta.url)), "..");
process.chdir(repository);
const wanted = process.argv.slice(2).filter((argument) => argument !== "--");
let passed = 0;
let failed = 0;

check("types", "node_modules/.bin/tsc", ["--noEmit", "-p", "."]);
check("lint and format", "node_modules/.bin/biome", ["ci", "--error-on-warnings", "."]);
const tools = dirname(await ensureEnvironment("pipelines/environments/tools.lock"));
check("Python lint", join(tools, "ruff"), ["check", "--no-cache", "."]);
check("Python format", join(tools, "ruff"), ["format", "--no-cache", "--check", "."]);

const python = await ensureEnvironment("pipelines/environments/ml.lock");
process.env.MLRB_PYTHON = python;
process.env.MLRB_TEST_ENVIRONMENTS = dirname(dirname(dirname(python)));
process.env.NODE_COMPILE_CACHE = join(repository, "node_modules/.cache/mlrb");

const files = globSync("{runners,tasks,scorers,pipelines,scripts,docs,tests}/**/*.test.ts", {
  exclude: ["**/node_modules/**"],
})
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort();
// The whole benchmark wants the machine to itself; everything else runs side by side.
const alone = files.filter((file) => file.includes("full-benchmark"));
await test(
  files.filter((file) => !alone.includes(file)),
  availableParallelism(),
);
await test(alone, 1);

console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

function check(name: string, program: string, args: string[]): void {
  const begin = performance.now();
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  if (status === 0) {
    passed++;
    console.log(`✔ ${name} (${seconds} s)`);
    return;
  }
  failed++;
  console.log(`✖ ${name} (${seconds} s)\n${stdout ?? ""}${stderr ?? ""}${error?.message ?? ""}`);
}

/** Runs test files, each in a process of its own, and counts what they say. */
async function test(paths: string[], concurrency: number): Promise<void> {
  if (paths.length === 0) return;
  const stream = run({
    files: paths.map((path) => join(repository, path)),
    concurrency,
    timeout: 40 * 60_000,
  });
  stream.on("test:summary", ({ file, counts }) => {
    if (file !== undefined) return; // one comes for each file, and one for all
    passed += counts.passed;
    failed += counts.tests - counts.passed - counts.skipped - counts.todo;
  });
  const shown = stream.compose(spec);
  for await (const chunk of shown) process.stdout.write(chunk as string);
}
