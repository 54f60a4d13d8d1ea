// Compares what `check-submission` answers with what the pipeline's own stages decide about the same folder.
// By hand, over every honest and every hostile folder that can be made here (about half an hour):
//   node tests/support/submissions/check-answers.ts
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Admission, admission as admissionFormat } from "@mlrb/formats/judged/admission";
import { causality as causalityFormat } from "@mlrb/formats/judged/causality";
import { mustFollow } from "@mlrb/formats/read-format";
import { writeCase } from "@mlrb/kit/admission/testing/hostile-case";
import { hostileCorpus } from "@mlrb/kit/admission/testing/hostile-corpus";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { readJson, writeJson } from "@mlrb/kit/json-file";
import { pythonPath } from "@mlrb/kit/python-path";
import { makeSubmissions, testPython } from "../../../scorers/testing/submissions.ts";
import { startWarmPython, warmArguments } from "../warm-python.ts";

const repository = resolve(import.meta.dirname, "../../..");
const texts = join(repository, "scorers/bits-per-byte/fixtures/private");
const module = join(repository, "scorers/library/scorer_library/check_submission.py");

export type Check = { check: string; answer: string; detail: string };

/** The outcome of the first check that does not pass, by the program and by the stages. */
export type Answers = { program: string; stages: string };

const environment = () => ({
  ...{ PATH: process.env.PATH!, HOME: process.env.HOME!, PYTHONPATH: pythonPath(repository) },
  ...{ PYTHONHASHSEED: "0", PYTHONDONTWRITEBYTECODE: "1", OMP_NUM_THREADS: "1" },
});

/** Both answers for `folder`. `place`: an empty folder for temporary files. */
export function bothAnswers(folder: string, place: string): Answers {
  return { program: first(programChecks(folder, place)), stages: first(stageChecks(folder, place)) };
}

/** What `check-submission` says. Its Python is the warm one, where there is one. */
function programChecks(folder: string, place: string): Check[] {
  const python = join(place, "python");
  const words = [testPython(), ...warmArguments([module])].map((word) => `'${word}'`);
  writeFileSync(python, `#!/bin/sh\nshift 3\nexec ${words.join(" ")} "$@"\n`);
  chmodSync(python, 0o755);
  const program = fileURLToPath(import.meta.resolve("@mlrb/kit/check-submission/check-submission"));
  const given = { python, module: "by path", "python-path": pythonPath(repository), data: texts };
  const flags = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
  const said = spawnSync(process.execPath, [program, ...flags, folder, "--json"], {
    ...{ encoding: "utf8", env: { ...process.env, ...environment() } },
  });
  const { checks } = JSON.parse(said.stdout || fail(said)) as { checks: Check[] };
  const fails = checks.some(({ answer }) => answer === "fail");
  if (said.status !== Number(fails)) throw new Error(`exit status ${said.status}: ${said.stdout}`);
  return checks;
}

/** What the stages validate, load and causality decide, in the words of the program. */
function stageChecks(folder: string, place: string): Check[] {
  const at = (name: string) => join(place, name);
  writeJson(at("ledger.json"), { none: "made for a test" });
  mkdirSync(at("clean"));
  node("validate.ts", [
    ...["--input", `submission=${folder}`, "--input", `ledger=${at("ledger.json")}`],
    ...["--output", `admission=${at("admitted.json")}`, "--output", `submission=${at("clean")}`],
  ]);
  const admitted = admissionOf(at("admitted.json"));
  if (!admitted.admitted) return failed("admission", admitted);
  if (admitted.undecided) return [{ check: "admission", answer: "undecided", detail: "" }];
  python(join(repository, "pipelines/steps/load.py"), [
    ...["--input", `submission=${at("clean")}`, "--input", `admission=${at("admitted.json")}`],
    ...["--output", `admission=${at("loaded.json")}`],
  ]);
  const loaded = admissionOf(at("loaded.json"));
  if (!loaded.admitted) return failed("load", loaded);
  return causalityChecks(at("clean"), place);
}

function failed(check: string, { reasons }: Admission): Check[] {
  return reasons.map(({ code, detail }) => ({
    ...{ check, answer: "fail", detail: check === "load" ? detail : `${code}: ${detail}` },
  }));
}

/** What the stage causality decides about a clean folder. */
export function causalityChecks(clean: string, place: string): Check[] {
  const at = (name: string) => join(place, name);
  writeJson(at("given.json"), { formatVersion: 1, admitted: true, reasons: [] });
  python(join(repository, "pipelines/steps/causality.py"), [
    ...["--input", `submission=${clean}`, "--input", `admission=${at("given.json")}`],
    ...["--input", `private=${texts}`, "--output", `causality=${at("causality.json")}`],
    ...["--output", `admission=${at("final.json")}`, "--secret-seed", "ab".repeat(32)],
    ...["--param", 'scorers=["bits-per-byte"]'],
  ]);
  const { verdict, detail } = mustFollow(causalityFormat, readJson(at("causality.json")), "causality.json");
  const answer = { causal: "pass", "looks-ahead": "fail", undecided: "fail" }[verdict];
  return [{ check: "model", answer, detail: verdict === "undecided" ? detail : "" }];
}

/** What the Python part of the program says of a clean folder. `memory`: bytes that it may take. */
export function pythonChecks(clean: string, place: string, memory?: number): Check[] {
  const answers = join(place, "answers");
  python(module, [clean, texts, answers, "600", ...(memory === undefined ? [] : [String(memory)])]);
  return readLines(answers);
}

/** The first check that does not pass. The model is used by two checks of the program, and by one stage. */
export function first(checks: Check[]): string {
  const stop = checks.find(({ answer }) => answer !== "pass");
  if (!stop) return "pass";
  const check = stop.check === "look-ahead" ? "model" : stop.check;
  if (stop.answer === "undecided") return `undecided ${check}`;
  const details = checks.filter(({ answer }) => answer === "fail").map(({ detail }) => bare(detail));
  return `${stop.answer} ${check}: ${details.join("; ")}`;
}

/** Without what differs between two honest measurements. */
function bare(detail: string): string {
  if (detail.includes("the text after a token helps to predict it") || detail === "") return "looks ahead";
  return detail.replace("the submission fails on public text: ", "").replaceAll(/\d+(\.\d+)? s\b/g, "N s");
}

function readLines(file: string): Check[] {
  const text = spawnSync("cat", [file], { encoding: "utf8" }).stdout;
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Check);
}

const admissionOf = (file: string) => mustFollow(admissionFormat, readJson(file), file);

function node(step: string, args: string[]): void {
  const said = spawnSync(process.execPath, [join(repository, "pipelines/steps", step), ...args], {
    ...{ cwd: repository, encoding: "utf8" },
  });
  if (said.status !== 0) fail(said);
}

function python(script: string, args: string[]): void {
  const said = spawnSync(testPython(), warmArguments([script, ...args]), {
    ...{ cwd: repository, encoding: "utf8", env: environment() },
  });
  if (said.status !== 0) fail(said);
}

function fail(said: SpawnSyncReturns<string>): never {
  throw new Error(`exit status ${said.status}: ${said.stdout}\n${said.stderr}`);
}

/** Has one Python import the libraries for all folders, unless the suite has one. Returns how to end it. */
export function warm(place: string): () => void {
  if (process.env.MLRB_TEST_WARM_PYTHON !== undefined) return () => {};
  const socket = join(place, "socket");
  const server = startWarmPython(testPython(), { socket, env: environment() });
  while (!existsSync(socket)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  process.env.MLRB_TEST_WARM_PYTHON = socket;
  return () => {
    delete process.env.MLRB_TEST_WARM_PYTHON;
    server.kill("SIGKILL");
  };
}

/** Folders of the scorers' tests, a whole one and broken ones, by name. */
export function madeFolders(place: string): string[] {
  mkdirSync(place);
  makeSubmissions(place);
  return readdirSync(place)
    .sort()
    .map((name) => join(place, name));
}

/** Folders of tiny models as real libraries leave them; all of them, or those of `names`. */
export function honestFolders(place: string, names: string[] = []): string[] {
  mkdirSync(place);
  const script = join(repository, "tests/support/submissions/honest_folders.py");
  const said = spawnSync(testPython(), warmArguments([script, place, ...names]), {
    ...{ cwd: repository, encoding: "utf8", env: environment(), maxBuffer: 1 << 26 },
  });
  if (said.status !== 0) fail(said);
  const made: string[] = JSON.parse(said.stdout.trimEnd().split("\n").at(-1)!);
  return made.map((name) => join(place, name));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const place = mkdtempSync(join(tmpdir(), "check-answers-"));
  const end = warm(place);
  try {
    const hostile = hostileCorpus
      .filter(({ large }) => !large)
      .map((one) => writeCase(join(place, "hostile"), one))
      .flatMap(({ folder, skipped }) => (skipped === undefined ? [folder] : []));
    const folders = [
      ...madeFolders(join(place, "made")),
      ...honestFolders(join(place, "honest")),
      ...hostile,
    ];
    let equal = 0;
    for (const folder of folders) {
      const work = mkdtempSync(join(place, "work-"));
      const { program, stages } = bothAnswers(folder, work);
      if (program === stages) equal++;
      else console.log(`${folder.slice(place.length)}\n  program: ${program}\n  stages:  ${stages}`);
      rmSync(work, { recursive: true });
    }
    console.log(`${equal} of ${folders.length} folders have equal answers`);
    process.exitCode = equal === folders.length ? 0 : 1;
  } finally {
    end();
    removeFolder(place);
  }
}
