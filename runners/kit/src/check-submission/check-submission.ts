// The program `check-submission` of every workspace: tells an agent whether its submission could be scored. Uses
// the admission, the load and the test of look-ahead of the benchmark itself, on public data alone (ADR 45).
//   check-submission [DIR] [--json]
// The script in the workspace gives the other flags. Exit status: 0 if nothing fails, 1 if something fails, 2 on misuse.

import { spawn } from "node:child_process";
import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { readWeights } from "../admission/admission-model.ts";
import { admit } from "../admission/admit-submission.ts";
import { undecidedText, writeCleanSubmission } from "../admission/clean-submission.ts";
import { hasProcess } from "../processes/has-process.ts";

type Check = { check: string; answer: "pass" | "fail" | "undecided"; detail: string };

const usage = `usage: check-submission [DIR] [--json]
  Checks whether the folder DIR (default: submission/) could be scored. One line for each check: pass, fail or undecided.
  Exit status: 0 if nothing fails, 1 if something fails, 2 on misuse.`;

const notChecked =
  "Not checked: the task's rules (where weights and data come from, sizes, memory, time) and all private data. A pass here is no verdict.";

const asked = request(process.argv.slice(2));
if (typeof asked === "string") {
  console.error(`check-submission: ${asked}\n${usage}`);
  process.exitCode = 2;
} else if (asked.help) console.log(usage);
else {
  const checks = await checkSubmission(asked);
  console.log(asked.json ? JSON.stringify({ formatVersion: 1, checks, notChecked }) : lines(checks));
  process.exitCode = checks.some(({ answer }) => answer === "fail") ? 1 : 0;
}

type Asked = { folder: string; json: boolean; help: boolean; python: Python | undefined; data: string };
/** `memory`: bytes that its loads may take, or an empty text. `seconds`: from the start of this program. */
type Python = { program: string; module: string; path: string; memory: string; seconds: number };

/** A string says what is wrong with the command line. */
function request(args: string[]): Asked | string {
  const text = { type: "string", default: "" } as const;
  const flag = { type: "boolean", default: false } as const;
  try {
    const { values, positionals } = parseArgs({
      ...{ args, allowPositionals: true },
      options: {
        ...{ json: flag, help: flag, python: text, module: text, "python-path": text },
        ...{ data: text, submission: text, memory: text, seconds: text },
      },
    });
    const { json, help, python, module, "python-path": path, data, submission, memory } = values;
    const seconds = Number(values.seconds) || 110;
    if (positionals.length > 1) return `one folder at most, got ${positionals.length}`;
    const folder = resolve(positionals[0] ?? (submission || "submission"));
    if (!help && !statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      return "there is no such folder";
    return {
      ...{ folder, json, help, data },
      python: python === "" || module === "" ? undefined : { program: python, module, path, memory, seconds },
    };
  } catch (error) {
    return (error as Error).message;
  }
}

async function checkSubmission(request: Asked): Promise<Check[]> {
  const checks: Check[] = [];
  try {
    for await (const check of each(request)) checks.push(check);
  } catch (error) {
    checks.push(undecided(`this machine: ${(error as Error).message}`));
  }
  return checks;
}

async function* each({ folder, python, data }: Asked): AsyncGenerator<Check> {
  const admission = admit(folder);
  if (!admission.admitted) {
    for (const { code, detail } of admission.reasons)
      yield { check: "admission", answer: "fail", detail: `${code}: ${detail}` };
    return;
  }
  if (admission.undecided) return yield undecided(undecidedText(admission.undecided), "admission");
  const left = admission.ignored ? `; ${admission.ignored.count} other entries are never opened` : "";
  yield { check: "admission", answer: "pass", detail: `it may be loaded${left}` };
  if (!python) return yield undecided("the workspace has no Python with torch; nothing was loaded");
  const place = newPlace();
  const clean = join(place.folder, "clean");
  try {
    try {
      writeCleanSubmission(folder, clean, readWeights(folder), linkSync);
    } catch (error) {
      // a copy of the weights could fill the attempt's disk, which ends the attempt
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EXDEV" && code !== "EPERM") throw error;
      return yield undecided("the weights cannot be linked from there; put the folder into the workspace");
    }
    yield* await checkInPython(python, { clean, data, answers: join(place.folder, "answers") });
  } finally {
    place.remove();
  }
}

/** A temporary folder, removed by a signal too; those of checks that were killed are removed first. */
function newPlace(): { folder: string; remove(): void } {
  const prefix = "check-submission-";
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split("-")[0]) : 0;
    if (pid > 0 && !hasProcess(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => {
      remove();
      process.exit(1); // Python ends with this process
    });
  return { folder, remove };
}

function undecided(detail: string, check = "load"): Check {
  return { check, answer: "undecided", detail };
}

type Paths = { clean: string; data: string; answers: string };

/** What Python answered before it ended, and how it ended if that was not by itself. */
async function checkInPython(
  { program, module, path, memory, seconds }: Python,
  { clean, data, answers }: Paths,
): Promise<Check[]> {
  const timeout = Math.max(1, Math.ceil(seconds * 1000 - performance.now()));
  const trouble = await new Promise<string | undefined>((done) => {
    const child = spawn(
      program,
      ["-P", "-m", module, clean, data, answers, String(Math.ceil(timeout / 1000)), memory],
      {
        stdio: ["ignore", "ignore", "pipe"],
        ...{ timeout, killSignal: "SIGKILL" },
        env: { ...process.env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: "1", OMP_NUM_THREADS: "1" },
      },
    );
    let last = "";
    child.stderr.on("data", (bytes) => {
      last = `${last}${bytes}`.slice(-2000);
    });
    child.on("error", (error) => done(`Python cannot be started: ${error.message}`));
    child.on("close", (code, signal) => {
      if (code === 0) return done(undefined);
      if (performance.now() >= seconds * 1000)
        return done(`not finished within ${seconds} s; the benchmark takes longer if it must`);
      const words = last.trim().split("\n").at(-1) ?? "";
      done(`the check itself ended with ${signal ?? `exit status ${code}`}: ${words}`);
    });
  });
  const given = read(answers);
  return trouble === undefined ? given : [...given, undecided(trouble, "later checks")];
}

function read(answers: string): Check[] {
  if (!statSync(answers, { throwIfNoEntry: false })) return [];
  const text = readFileSync(answers, "utf8");
  const whole = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return whole.filter((line) => line !== "").map((line) => JSON.parse(line) as Check);
}

function lines(checks: Check[]): string {
  // names of files come from the folder: no line of theirs may look like one of ours
  const line = ({ check, answer, detail }: Check) =>
    `${answer} ${check}: ${detail.replaceAll(/\p{Cc}+/gu, " ")}`;
  return [...checks.map(line), notChecked].join("\n");
}
