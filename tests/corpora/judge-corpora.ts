// Judges and scores folders of honest models and of cheats with the benchmark's own stages, and prints what became
// of each. Each folder takes the place of an attempt's submission, as in `pipeline score`. By hand, all of them,
// with the table of docs/rules.md:
//   node tests/corpora/judge-corpora.ts --write
// or some, by the beginnings of their names:
//   node tests/corpora/judge-corpora.ts tied- nan-
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { exactInterval } from "@mlrb/core/statistics/exact-interval";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import type { Result } from "@mlrb/local/run/result";
import { openWorkspace } from "@mlrb/local/store/workspace";
import { parseVerdict } from "@mlrb/report/read/parse-artifacts";
import { undecidedCause } from "@mlrb/report/read/undecided-cause";
import { readRequest } from "../../runners/cli/src/request/request.ts";
import { scoringOf } from "../../runners/cli/src/request/scored-target.ts";
import { submitFolder } from "../../runners/cli/src/request/submit-folder.ts";
import { runGiven } from "../../runners/cli/src/run/run-given.ts";
import { runPython } from "../support/run-python.ts";
import { documented } from "./documented.ts";

const repository = resolve(import.meta.dirname, "../..");
const task = "baby-lm";
/** Its rules on the record of an attempt: a folder that is handed in by hand has none. */
const onRecords = ["given-data", "in-time"];

export const corpora = {
  "honest folders of libraries": { kind: "honest", program: "tests/support/submissions/honest_folders.py" },
  "honest recipes, written after the code": { kind: "honest", program: "tests/corpora/later_recipes.py" },
  cheats: { kind: "cheat", program: "tests/corpora/cheat_folders.py" },
  "models of each type": { kind: "honest", program: "tests/corpora/models/make_corpus.py" },
} as const;
type Corpus = keyof typeof corpora;

/** The worst that happened to a folder, best first. `missing`: a stage failed, so a table would lack it. */
const fates = ["scored", "undecided", "baseline", "disqualified", "refused", "missing"] as const;
type Fate = (typeof fates)[number];

export type JudgedFolder = { corpus: Corpus; name: string; fate: Fate; why: string };

const namesOf = new Map<string, string[]>();

/** The folders that a program makes. */
export function namesIn(program: string): string[] {
  return namesOf.getOrInsertComputed(program, () =>
    JSON.parse(runPython([join(repository, program), "--list"])),
  );
}

/** Makes the folders whose names begin with one of `wanted` (all without one) in `place`, and judges them under `root`. */
export async function judgeCorpora(
  place: string,
  { root, wanted = [], json = true }: { root: string; wanted?: string[]; json?: boolean },
): Promise<JudgedFolder[]> {
  const made = Object.entries(corpora).flatMap(([corpus, { program }]) => {
    const folder = join(place, corpus);
    mkdirSync(folder, { recursive: true });
    const names = namesIn(program).filter(
      (name) => wanted.length === 0 || wanted.some((one) => name.startsWith(one)),
    );
    if (names.length > 0) runPython([join(repository, program), folder, ...names], { timeout: 30 * 60_000 });
    return names.map((name) => ({ corpus: corpus as Corpus, name, path: join(folder, name) }));
  });
  if (made.length === 0) return [];
  const set = [`task=${task}`, "agent=script-weak", `seed=${made.map((_, at) => at + 1).join(",")}`];
  const request = await readRequest(repository, "full-benchmark", { only: [], set, json, root });
  if (!request) throw new Error("the plan of the folders has problems, above");
  const { plan } = request;
  const workspace = openWorkspace({ repository, root, pipeline: plan.pipeline, profile: plan.profile });
  const given = new Map<number, Result>();
  const folders = [];
  for (const [at, one] of made.entries()) {
    const attempt = plan.instances.find(({ stage, axes }) => stage.durable && axes.seed === at + 1)!;
    const work = mkdtempSync(join(place, "work-"));
    const submission = await submitFolder(one.path, attempt, { workspace, work });
    if (typeof submission === "string") throw new Error(submission);
    given.set(attempt.index, submission.result);
    folders.push({ ...one, stages: scoringOf(plan, attempt.index, { references: false }), attempt });
  }
  const verdicts = folders.map(
    ({ attempt: { axes } }) =>
      plan.instances.find(({ stage, axes: own }) => stage.role === "verdict" && own.seed === axes.seed)!,
  );
  const needed = new Set([...folders.flatMap(({ stages }) => stages), ...verdicts.flatMap(neededBy)]);
  const selected = [...needed].sort((a, b) => a - b);
  const { results } = await runGiven({ repository, workspace, plan, selected, given, jobs: undefined, json });
  return folders.map(({ corpus, name, stages }, at) => ({
    ...{ corpus, name },
    ...fateOf([verdicts[at]!.index, ...stages]),
  }));

  function neededBy({
    index,
    inputs,
    environment,
  }: {
    index: number;
    inputs: readonly { from: number }[];
    environment?: number;
  }): number[] {
    if (given.has(index)) return [];
    const above = [...inputs.map(({ from }) => from), ...(environment === undefined ? [] : [environment])];
    return [...above.flatMap((from) => neededBy(plan.instances[from]!)), index];
  }

  function fateOf(indices: number[]): Pick<JudgedFolder, "fate" | "why"> {
    const [verdict, ...others] = indices;
    const judged = results[verdict!]?.outputs?.verdict;
    const read = judged && parseVerdict(workspace.store.textOf(judged.digest));
    const open = read?.kind === "ok" ? undecidedCause(read.value.rules) : undefined;
    if (open !== undefined) return { fate: "undecided", why: open }; // its scorers fail on purpose
    const found = [verdict!, ...others].flatMap((index): Pick<JudgedFolder, "fate" | "why">[] => {
      const { id, stage } = plan.instances[index]!;
      const { outcome, outputs = {} } = results[index] ?? {};
      const text = (name: string) => workspace.store.textOf(outputs[name]!.digest);
      if (outcome?.kind === "failed") return [{ fate: "missing", why: `${id}: ${outcome.detail}` }];
      if (outcome?.kind !== "succeeded" && outcome?.kind !== "reused") return []; // what it follows says why
      if (stage.role === "score") {
        const { kind, reason = "" } = JSON.parse(text("score")) as { kind: string; reason?: string };
        const fate = kind === "scored" ? "scored" : kind === "rejected" ? "baseline" : "missing";
        return [{ fate, why: reason }];
      }
      if (stage.role !== "verdict") return [];
      const reading = parseVerdict(text("verdict"));
      if (reading.kind === "unreadable") return [{ fate: "missing", why: reading.cause }];
      const { kind } = reading.value;
      const open = reading.value.rules.filter(
        ({ rule, answer }) => answer !== "pass" && !onRecords.includes(rule),
      );
      const why = open.map((one) => `${one.rule}: ${one.evidence}`).join("; ");
      const disqualifying = open.some(({ severity }) => severity === "disqualify");
      const fate = {
        pass: "scored",
        undecided: disqualifying ? "undecided" : "scored",
        disqualified: "disqualified",
        rejected: "refused",
      } as const;
      return [{ fate: fate[kind], why }];
    });
    return (
      found.sort((a, b) => fates.indexOf(b.fate) - fates.indexOf(a.fate))[0] ?? {
        fate: "missing",
        why: "nothing ran",
      }
    );
  }
}

/** Honest folders that lost something without a documented reason, and cheats that kept their score. */
export function unexpected(judged: JudgedFolder[]): JudgedFolder[] {
  return judged.filter(({ corpus, name, fate }) => {
    const expected = documented[name]?.fate;
    if (expected !== undefined) return fate !== expected;
    return corpora[corpus].kind === "honest" ? fate !== "scored" : fate === "scored" || fate === "missing";
  });
}

/** The table of docs/rules.md. A folder with a documented fate is in the column of that fate, and is no exception. */
function corporaTable(judged: JudgedFolder[]): string {
  const rows = Object.entries(corpora).map(([corpus, { kind }]) => {
    const own = judged.filter((one) => one.corpus === corpus);
    const wrong = unexpected(own).length;
    const upper = own.length === 0 ? 1 : exactInterval(wrong, own.length)[1];
    const counts = fates.map((fate) => own.filter((one) => one.fate === fate).length);
    const what = kind === "honest" ? "lost without a documented reason" : "kept a score";
    return `| ${corpus} | ${own.length} | ${counts.join(" | ")} | ${wrong} ${what} | ${(100 * upper).toFixed(1)} % |`;
  });
  const head = ["corpus", "folders", ...fates, "against expectation", "upper 95 % bound"];
  return [`| ${head.join(" | ")} |`, `| --- |${" --: |".repeat(fates.length + 1)} --- | --: |`, ...rows].join(
    "\n",
  );
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { write: { type: "boolean", default: false } },
  });
  const place = mkdtempSync(join(tmpdir(), "mlrb-corpora-"));
  const judged = await judgeCorpora(place, { root: repository, wanted: positionals, json: false });
  for (const { name, fate, why } of judged)
    if (fate !== "scored") console.log(`${fate.padEnd(10)} ${name}: ${why}`);
  const wrong = unexpected(judged);
  const table = corporaTable(judged);
  console.log(`${table}\n${wrong.length} against expectation: ${wrong.map(({ name }) => name).join(", ")}`);
  if (values.write && positionals.length === 0) {
    const file = join(repository, "docs/rules.md");
    const text = readFileSync(file, "utf8");
    const block = /(<!-- corpora: written by tests\/corpora\/judge-corpora.ts -->\n)[\s\S]*?(?=<!-- end -->)/;
    writeFileSync(
      file,
      text.replace(block, (_, begin: string) => `${begin}${table}\n`),
    );
  }
  removeFolder(place);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
