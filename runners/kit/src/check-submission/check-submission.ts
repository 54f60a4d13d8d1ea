// The program `check-submission` of every workspace: tells an agent whether its submission could be scored. Uses the
// admission, the load and the test of look-ahead of the benchmark itself, on public data alone (ADR 45).
//   check-submission [DIR] [--json]
// The script in the workspace gives the other flags. Exit status: 0 if nothing fails, 1 if something fails, 2 on misuse.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { readWeights } from "../admission/admission-model.ts";
import { admit } from "../admission/admit-submission.ts";
import { undecidedText, writeCleanSubmission } from "../admission/clean-submission.ts";

type Check = { check: string; answer: "pass" | "fail" | "undecided"; detail: string };

/** For the Python part; the whole program stays under two minutes. */
const limitMs = 100_000;

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
type Python = { program: string; module: string; path: string };

/** A string says what is wrong with the command line. */
function request(args: string[]): Asked | string {
  const text = { type: "string", default: "" } as const;
  const flag = { type: "boolean", default: false } as const;
  try {
    const { values, positionals } = parseArgs({
      ...{ args, allowPositionals: true },
      options: {
        ...{ json: flag, help: flag, python: text, module: text, "python-path": text },
        ...{ data: text, submission: text },
      },
    });
    const { json, help, python, module, "python-path": path, data, submission } = values;
    if (positionals.length > 1) return `one folder at most, got ${positionals.length}`;
    const folder = resolve(positionals[0] ?? (submission || "submission"));
    if (!help && !statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      return "there is no such folder";
    return {
      ...{ folder, json, help, data },
      python: python === "" || module === "" ? undefined : { program: python, module, path },
    };
  } catch (error) {
    return (error as Error).message;
  }
}

async function checkSubmission({ folder, python, data }: Asked): Promise<Check[]> {
  const admission = admit(folder);
  if (!admission.admitted)
    return admission.reasons.map(({ code, detail }) => ({
      ...{ check: "admission", answer: "fail", detail: `${code}: ${detail}` },
    }));
  if (admission.undecided)
    return [{ check: "admission", answer: "undecided", detail: undecidedText(admission.undecided) }];
  const left = admission.ignored ? `; ${admission.ignored.count} other entries are never opened` : "";
  const admitted: Check = { check: "admission", answer: "pass", detail: `it may be loaded${left}` };
  if (!python) return [admitted, undecided("the workspace has no Python with torch; nothing was loaded")];
  const place = mkdtempSync(join(tmpdir(), "check-submission-"));
  try {
    const clean = join(place, "clean");
    writeCleanSubmission(folder, clean, readWeights(folder));
    return [admitted, ...(await checkInPython(python, { clean, data, answers: join(place, "answers") }))];
  } catch (error) {
    return [admitted, undecided(`this machine: ${(error as Error).message}`)];
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function undecided(detail: string, check = "load"): Check {
  return { check, answer: "undecided", detail };
}

type Paths = { clean: string; data: string; answers: string };

/** What Python answered before it ended, and how it ended if that was not by itself. */
async function checkInPython(python: Python, { clean, data, answers }: Paths): Promise<Check[]> {
  const trouble = await new Promise<string | undefined>((done) => {
    const child = spawn(python.program, ["-P", "-m", python.module, clean, data, answers], {
      stdio: ["ignore", "ignore", "pipe"],
      timeout: limitMs,
      killSignal: "SIGKILL",
      env: { ...process.env, PYTHONPATH: python.path, PYTHONDONTWRITEBYTECODE: "1", OMP_NUM_THREADS: "1" },
    });
    let last = "";
    child.stderr.on("data", (bytes) => {
      last = `${last}${bytes}`.slice(-2000);
    });
    const started = performance.now();
    child.on("error", (error) => done(`Python cannot be started: ${error.message}`));
    child.on("close", (code, signal) => {
      if (code === 0) return done(undefined);
      if (performance.now() - started >= limitMs) return done(`not finished within ${limitMs / 1000} s`);
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
