// Runs every check of the project, cheap ones first: types, lint, then tests.
//   pnpm test                    the default tier
//   pnpm test --thorough         both tiers: also *.thorough.test.ts
//   pnpm test runners/core       only test files whose path contains this
//   pnpm test --changed          only test files that can reach a difference from main
//   pnpm test --patience 2       all time limits doubled, for a busy machine
// The last line is `N passed, N failed`.
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import { testSeed } from "../tests/support/test-seed.ts";
import { forkServerVariable, startWarmPython } from "../tests/support/warm-python.ts";
import { ensureEnvironment } from "./ensure-environment.ts";
import { dockerfiles } from "./pin-images.ts";
import { abortOnSignals } from "./suite/abort-on-signals.ts";
import { changedFiles, sourcesOf } from "./suite/changed-files.ts";
import { testsReaching } from "./suite/reach.ts";
import { repeatAlone, runTestFiles } from "./suite/run-test-files.ts";
import { countsLine, countTests, fileLine, summary } from "./suite/summary.ts";
import { testEnvironment } from "./suite/test-environment.ts";
import { findTestFiles, longestFirst, mayUsePython, selectTestFiles } from "./suite/test-files.ts";

const repository = join(import.meta.dirname, "..");
process.chdir(repository);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    thorough: { type: "boolean", default: false },
    changed: { type: "boolean", default: false },
    patience: { type: "string", default: "1" },
  },
});
const patience = Number(values.patience);
if (!(patience >= 1)) {
  console.error(`--patience must be a number of at least 1, not ${values.patience}`);
  process.exit(2);
}
const suiteMinutes = 80 * patience; // CI kills the job after 90, without a summary
const end = new AbortController();
setTimeout(
  () => end.abort(`the suite's limit of ${suiteMinutes} minutes is over`),
  suiteMinutes * 60_000,
).unref();
abortOnSignals(end);
ensureDevelopmentTools(repository);

const [python, ...checks] = await Promise.all([
  ensureEnvironment("pipelines/environments/ml.lock"), // a first run takes minutes, mostly waiting for the disk
  check("types", "tests/node_modules/.bin/tsc", ["--noEmit", "-p", "."]),
  check("lint and format", "tests/node_modules/.bin/biome", ["ci", "--error-on-warnings", "."]),
  check("unused files, exports and packages", "tests/node_modules/.bin/knip", ["--no-progress"]),
  checksOfTools(),
]);
const shared = mkdtempSync(join(tmpdir(), "mlrb-suite-"));
const socket = join(shared, "python");
const env = testEnvironment(process.env, {
  MLRB_PYTHON: python,
  MLRB_TEST_WARM_PYTHON: socket,
  ...forkServerVariable(socket),
  MLRB_TEST_SHARED: shared,
  MLRB_TEST_SEED: String(testSeed),
  MLRB_TEST_ENVIRONMENTS: dirname(dirname(dirname(python))),
  NODE_COMPILE_CACHE: join(repository, "node_modules/.cache/mlrb"),
});
console.log(`Random samples are drawn with MLRB_TEST_SEED=${testSeed}.`);
const wanted = positionals.filter((argument) => argument !== "--");
const candidates = values.changed ? reachingTests() : findTestFiles(repository);
const selected = selectTestFiles(candidates, { thorough: values.thorough, wanted });
const known = knownSeconds();
const files = longestFirst(selected, known);
const warmPython = files.some(mayUsePython)
  ? startWarmPython(python, { socket, env: testEnvironment(process.env) })
  : undefined;
const options = {
  cwd: repository,
  env,
  fileTimeoutMs: (file: string) => fileTimeoutMs(known[file]),
  signal: end.signal,
  onFile: (result: Parameters<typeof fileLine>[0]) => console.log(fileLine(result)),
};
// one more than there are CPUs: a test of the whole program waits for a third of its time
const together = await runTestFiles(files, { ...options, concurrency: availableParallelism() + 1 });
const results = await repeatAlone(together, options);

const benchmark = join(shared, "benchmark");
if (existsSync(benchmark)) {
  const verify = [...nodeFlags, "runners/cli/bin/pipeline.js", "cache", "verify", "--root", benchmark];
  checks.push(await check("the shared state is unchanged", process.execPath, verify));
}
warmPython?.kill("SIGKILL");
rmSync(shared, { recursive: true, force: true });
console.log(summary(results));
const counts = countTests(results);
counts.passed += checks.flat().filter(Boolean).length;
counts.failed += checks.flat().filter((succeeded) => !succeeded).length;
console.log(`\n${countsLine(counts)}`);
const empty = results.length === 0 && !values.changed;
process.exit(counts.failed > 0 || empty ? 1 : 0);

async function checksOfTools(): Promise<boolean[]> {
  const tools = dirname(await ensureEnvironment("pipelines/environments/tools.lock"));
  return await Promise.all([
    check("Python lint", join(tools, "ruff"), ["check", "--no-cache", "."]),
    check("Python format", join(tools, "ruff"), ["format", "--no-cache", "--check", "."]),
    check("Dockerfile lint", join(tools, "hadolint"), dockerfiles()),
  ]);
}

async function check(name: string, program: string, args: string[]): Promise<boolean> {
  const begin = performance.now();
  const failed: string | undefined = await promisify(execFile)(program, args, { maxBuffer: 1 << 28 }).then(
    () => undefined,
    ({ stdout, stderr, message }) => `${stdout}${stderr}` || message,
  );
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.log(failed === undefined ? `✔ ${name} (${seconds} s)` : `✖ ${name} (${seconds} s)\n${failed}`);
  return failed === undefined;
}

/** A file that hangs must not use up the suite's time. `seconds` is the file's usual duration. */
function fileTimeoutMs(seconds = 0): number {
  return patience * 1000 * Math.min(50 * 60, Math.max(10 * 60, 4 * seconds));
}

function reachingTests(): string[] {
  const changed = changedFiles(repository);
  const reaching = testsReaching(changed, sourcesOf(repository));
  console.log(`${changed.length} files differ from main; ${reaching.length} test files can reach them`);
  if (changed.some((path) => /^(runners|pipelines|tasks|scorers)\//.test(path)))
    console.log("tests of the whole program (tests/) can reach them too: run `pnpm test` before you merge");
  return reaching;
}

/** Durations of long files, measured once on two cores. They decide the order and the time limits. */
function knownSeconds(): Record<string, number> {
  const path = "scripts/suite/seconds.json";
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
}

/** Installs the tools of those who change mlrb where they are missing: `./mlrb` installs what a run needs, by the pnpm that started this script. Throws if that fails. */
function ensureDevelopmentTools(repository: string): void {
  if (existsSync(join(repository, "tests/node_modules"))) return;
  const pnpm = process.env.npm_execpath;
  const args = ["install", "--frozen-lockfile"];
  const done =
    pnpm === undefined
      ? undefined
      : spawnSync(process.execPath, [pnpm, ...args], { cwd: repository, stdio: "inherit" });
  if (done?.status !== 0) throw new Error("the development tools are not installed: type pnpm install");
}
