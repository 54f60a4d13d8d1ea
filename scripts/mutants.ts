// Changes modules of runners/ one small place at a time and says which changes no test notices, by Stryker.
//   pnpm mutants runners/core/src/statistics                             a folder, or any part of paths
//   pnpm mutants runners/local/src/leases/lease.ts --tests runners/local
// A module's mutants are run against the files of tests in runners/, default tier, that reach it by imports and
// then, by what they covered, run the changed line; `--tests PART` takes only some of these. The working tree is
// never written.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { ensureDevelopmentTools } from "./development-tools.ts";
import { ensureEnvironment } from "./ensure-environment.ts";
import { abortOnSignals } from "./suite/abort-on-signals.ts";
import { sourcesOf } from "./suite/changed-files.ts";
import { testsReaching } from "./suite/reach.ts";
import { copyRepository } from "./suite/repository-copy.ts";
import { runTestFiles } from "./suite/run-test-files.ts";
import { testEnvironment } from "./suite/test-environment.ts";
import { selectTestFiles } from "./suite/test-files.ts";

/** Longer files of tests would run again and again; they are left out by name. */
const fileTimeoutMs = 60_000;

const repository = join(import.meta.dirname, "..");
const tools = join(repository, "tests/node_modules/@stryker-mutator");
process.chdir(repository);
ensureDevelopmentTools(repository);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tests: { type: "string", multiple: true, default: [] } },
});
const sources = sourcesOf(repository);
const mutate = [...sources.keys()].filter(
  (path) =>
    /^runners\/\w+\/src\/.*\.ts$/.test(path) &&
    !/\.test\.ts$|\/testing\//.test(path) &&
    positionals.some((part) => path.includes(part)),
);
if (mutate.length === 0)
  throw new Error(`no module is called ${positionals.join(" or ") || "so: name some"}`);
const end = new AbortController();
abortOnSignals(end);

const python = await ensureEnvironment("pipelines/environments/ml.lock");
const copy = copyRepository(repository, sources.keys());
process.once("exit", () => rmSync(copy, { recursive: true, force: true }));
const env = testEnvironment(process.env, {
  // the program `node` of node_modules/.bin is a script, behind which Stryker loses its process
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  MLRB_PYTHON: python,
  MLRB_TEST_ENVIRONMENTS: dirname(dirname(dirname(python))),
});
const testFiles = await passingTests();
const nodeArgs = ["--disable-warning=ExperimentalWarning", "--test-reporter=tap"];
const options = {
  mutate,
  plugins: [join(tools, "tap-runner/dist/src/index.js")],
  testRunner: "tap",
  tap: { testFiles, nodeArgs: [...nodeArgs, "--require", "{{hookFile}}", "{{testFile}}"] },
  reporters: ["clear-text"],
  clearTextReporter: { reportTests: false, logTests: false },
  inPlace: true, // a sandbox of its own would find the packages of the workspace outside of it
  concurrency: availableParallelism(),
  coverageAnalysis: "perTest",
  timeoutMS: 20_000,
  dryRunTimeoutMinutes: 15, // the tests without a mutant, on a busy machine
  logLevel: "warn",
  allowConsoleColors: false,
};
writeFileSync(join(copy, "stryker.json"), JSON.stringify(options));
const program = join(tools, "core/bin/stryker.js");
const child = spawn(process.execPath, [program, "run", "stryker.json"], {
  cwd: copy,
  env,
  stdio: ["ignore", "inherit", "inherit"],
  detached: true, // so that all that it started can be ended with it
});
end.signal.addEventListener("abort", () => process.kill(-child.pid!, "SIGKILL"));
const [code] = await once(child, "exit");
process.exit(code ?? 1);

/** Those that pass without a mutant: Stryker ends where one fails. */
async function passingTests(): Promise<string[]> {
  const reaching = testsReaching(mutate, sources).filter((file) => file.startsWith("runners/"));
  const files = selectTestFiles(reaching, { thorough: false, wanted: values.tests });
  const results = await runTestFiles(files, {
    ...{ cwd: copy, env, concurrency: availableParallelism(), signal: end.signal },
    fileTimeoutMs: () => fileTimeoutMs,
    onFile: ({ file, tests }) => {
      const failed = tests.find(({ outcome }) => outcome === "failed");
      if (failed) console.log(`left out: ${file} fails without a mutant: ${failed.title}`);
    },
  });
  if (end.signal.aborted) process.exit(1);
  const passed = results.filter(({ tests }) => tests.every(({ outcome }) => outcome !== "failed"));
  console.log(`${passed.length} of ${files.length} files of tests that reach ${mutate.length} modules`);
  return passed.map(({ file }) => file).sort();
}
