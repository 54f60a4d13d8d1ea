// Changes the product one small place at a time and says which changes no test notices, by Stryker.
//   pnpm mutants                          all of core and the deciding part of local: hours
//   pnpm mutants --sample 40 --seed 7     40 mutants, the same for the same seed
//   pnpm mutants runners/local/src/leases/lease.ts --tests runners/local
// A mutant is run against the files of tests in runners/, default tier, that reach its module by imports and then,
// by what they covered, run its line; `--tests PART` takes only some of these. One that no test kills and tsc refuses
// counts as killed. Prints the survivors, the share killed by module, and the seed. The working tree is never written.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { ensureEnvironment } from "./ensure-environment.ts";
import { chosenVariable } from "./mutants/chosen.ts";
import { type Fate, type Mutant, mutated, nameOf, reportText, sampleOf } from "./mutants/mutant.ts";
import { copyRepository } from "./mutants/repository-copy.ts";
import { abortOnSignals } from "./suite/abort-on-signals.ts";
import { sourcesOf } from "./suite/changed-files.ts";
import { testsReaching } from "./suite/reach.ts";
import { runTestFiles } from "./suite/run-test-files.ts";
import { testEnvironment } from "./suite/test-environment.ts";
import { selectTestFiles } from "./suite/test-files.ts";

/** What decides in runners/local: what a stage reads, whether it runs, what is kept of it, and who may do it. */
const deciding = Object.entries({
  attempts: "attempt-fate quarantine settle-attempt",
  decide:
    "bind-inputs changed-files collect-members consulted-files decide-instance find-cached-action image-identity no-op-fast-path run-reasons",
  digests: "code-digest node-imports package-lock python-imports file-digest-memory stage-source-files",
  journal: "last-ends",
  leases: "gpu-book gpu-queue heartbeat lease owner",
  records: "attempt-records estimate-cost keep-record record-index records-sharing verify-record",
  run: "capacity carry-out execute-instance instance-ends",
  stage: "record-action missing-output prepare-stage refusals work-slots",
  store: "action-cache content-store ingest-outputs memory-file verified-contents",
}).flatMap(([folder, names]) => names.split(" ").map((name) => `runners/local/src/${folder}/${name}.ts`));

/** Longer files of tests would run again and again; they are left out by name. */
const fileTimeoutMs = 60_000;

const repository = join(import.meta.dirname, "..");
process.chdir(repository);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string" },
    sample: { type: "string" },
    tests: { type: "string", multiple: true, default: [] },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
const size = Number(values.sample ?? Number.POSITIVE_INFINITY);
if (!Number.isInteger(seed) || !(size > 0)) throw new Error("--seed and --sample take whole numbers");
const end = new AbortController();
abortOnSignals(end);

const sources = sourcesOf(repository);
const modules = chosenModules(positionals);
const python = await ensureEnvironment("pipelines/environments/ml.lock");
const copy = copyRepository(repository, sources.keys());
process.once("exit", () => rmSync(copy, { recursive: true, force: true }));
const env = testEnvironment(process.env, {
  // the program `node` of node_modules/.bin is a script, behind which Stryker loses its process
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  MLRB_PYTHON: python,
  MLRB_TEST_ENVIRONMENTS: dirname(dirname(dirname(python))),
  [chosenVariable]: join(copy, "chosen.json"),
});

const all = await stryker(modules, [], { testRunner: "command", commandRunner: { command: "true" } });
const chosen = sampleOf(
  all.map(({ mutant }) => mutant),
  seed,
  size,
);
const mutatedModules = [...new Set(chosen.map(({ file }) => file))].sort();
console.log(
  `${all.length} mutants in ${modules.length} modules; ${chosen.length} are run, in ${mutatedModules.length} modules; seed ${seed}`,
);
const tests = await passingTests(mutatedModules);
const nodeArgs = ["--disable-warning=ExperimentalWarning", "--test-reporter=tap"];
const run = await stryker(mutatedModules, chosen, {
  testRunner: "tap",
  tap: { testFiles: tests, nodeArgs: [...nodeArgs, "--require", "{{hookFile}}", "{{testFile}}"] },
});
const names = new Set(chosen.map(nameOf));
const fates = run
  .filter(({ mutant }) => names.has(nameOf(mutant)))
  .map(({ mutant, status }) => ({ mutant, fate: fateOf(mutant, status) }));
console.log(reportText(fates, sources));
console.log(`seed ${seed}`);
process.exit();

function chosenModules(wanted: string[]): string[] {
  const product = [...sources.keys()].filter(
    (path) => /^runners\/\w+\/src\/.*\.ts$/.test(path) && !/\.test\.ts$|\/testing\//.test(path),
  );
  const gone = deciding.filter((path) => !product.includes(path));
  if (gone.length > 0)
    throw new Error(`bug: ${gone.join(", ")} moved; change the list in scripts/mutants.ts`);
  const usual = product.filter((path) => path.startsWith("runners/core/") || deciding.includes(path));
  const named = (path: string) => wanted.length === 0 || wanted.some((part) => path.includes(part));
  const inUsual = usual.filter(named);
  const found = inUsual.length > 0 ? inUsual : product.filter(named);
  if (found.length === 0) throw new Error(`no module is called ${wanted.join(" or ")}`);
  return found;
}

/** Runs Stryker on the copy; only `chosen` mutants meet tests. Gives every mutant with its status. */
async function stryker(
  mutate: string[],
  chosen: readonly Mutant[],
  runner: Record<string, unknown>,
): Promise<{ mutant: Mutant; status: string }[]> {
  const report = join(copy, "mutants.json");
  writeFileSync(join(copy, "chosen.json"), JSON.stringify(chosen.map(nameOf)));
  const options = {
    ...runner,
    mutate,
    plugins: [
      import.meta.resolve("@stryker-mutator/tap-runner"),
      join(import.meta.dirname, "mutants/chosen.ts"),
    ],
    checkers: ["chosen"],
    reporters: ["json"],
    jsonReporter: { fileName: report },
    inPlace: true, // a sandbox of its own would find the packages of the workspace outside of it
    concurrency: availableParallelism(),
    coverageAnalysis: "perTest",
    timeoutMS: 20_000,
    dryRunTimeoutMinutes: 15, // the tests without a mutant, on a busy machine
    logLevel: "warn",
    allowConsoleColors: false,
  };
  writeFileSync(join(copy, "stryker.json"), JSON.stringify(options));
  const program = join(repository, "node_modules/@stryker-mutator/core/bin/stryker.js");
  const child = spawn(process.execPath, [program, "run", "stryker.json"], {
    cwd: copy,
    env,
    stdio: ["ignore", "inherit", "inherit"],
    detached: true, // so that all that it started can be ended with it
  });
  const kill = () => process.kill(-child.pid!, "SIGKILL");
  end.signal.addEventListener("abort", kill);
  const [code] = await once(child, "exit");
  end.signal.removeEventListener("abort", kill);
  if (code !== 0) process.exit(1);
  const { files } = JSON.parse(readFileSync(report, "utf8")) as {
    files: Record<string, { mutants: (Omit<Mutant, "file"> & { status: string })[] }>;
  };
  return Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants.map(({ status, ...mutant }) => ({ mutant: { ...mutant, file }, status })),
  );
}

/** Those that pass without a mutant: Stryker ends where one fails. */
async function passingTests(changed: string[]): Promise<string[]> {
  const reaching = testsReaching(changed, sources).filter((file) => file.startsWith("runners/"));
  const files = selectTestFiles(reaching, { thorough: false, wanted: values.tests });
  const results = await runTestFiles(files, {
    ...{
      cwd: copy,
      env,
      concurrency: availableParallelism(),
      fileTimeoutMs: () => fileTimeoutMs,
      signal: end.signal,
    },
    onFile: ({ file, tests }) => {
      const failed = tests.find(({ outcome }) => outcome === "failed");
      if (failed) console.log(`left out: ${file} fails without a mutant: ${failed.title}`);
    },
  });
  if (end.signal.aborted) process.exit(1);
  const passed = results.filter(({ tests }) => tests.every(({ outcome }) => outcome !== "failed"));
  console.log(`${passed.length} of ${files.length} files of tests that reach them`);
  return passed.map(({ file }) => file).sort();
}

function fateOf(mutant: Mutant, status: string): Fate {
  if (["Killed", "Timeout", "RuntimeError"].includes(status)) return "killed";
  if (status !== "Survived" && status !== "NoCoverage")
    throw new Error(`bug: ${nameOf(mutant)} was not run: ${status}`);
  if (!hasTypes(mutant)) return "killed-by-types";
  return status === "NoCoverage" ? "not-run" : "survived";
}

/** Whether tsc takes the module with what it imports; all modules at once would take half a minute a mutant. */
function hasTypes(mutant: Mutant): boolean {
  const text = sources.get(mutant.file)!;
  writeFileSync(join(copy, mutant.file), mutated(text, mutant));
  const project = join(copy, "mutant.json");
  writeFileSync(project, JSON.stringify({ extends: "./tsconfig.json", include: [], files: [mutant.file] }));
  const tsc = join(repository, "node_modules/.bin/tsc");
  const { status } = spawnSync(tsc, ["--noEmit", "-p", project], { cwd: copy, env, stdio: "ignore" });
  writeFileSync(join(copy, mutant.file), text);
  return status === 0;
}
