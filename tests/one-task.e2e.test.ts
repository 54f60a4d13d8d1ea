// The README's command on one task: tables, labels, reuse, an edited scorer, an agent that does nothing. Tests
// that only read use the suite's shared state; the others run one after the other in a copy of it.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { benchmarkState, copyBenchmarkState, oneTask, oneTaskArguments } from "./support/benchmark-state.ts";
import { indexVariables } from "./support/demonstration/play.ts";
import { recordsIn } from "./support/end-state.ts";
import { filesBelow, leftovers, outcomes, reasons, summary } from "./support/lab.ts";
import { checkNop, checkReport } from "./support/report-checks.ts";
import { type Line, type ProgramOutput, startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const shared = await benchmarkState();
const repository = throwAwayRepository();
const above = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-one-task-")));
const root = join(above, "root");
after(() => {
  repository.remove();
  removeFolder(above);
});
await copyBenchmarkState(root);

const pipeline = (...args: string[]): Promise<ProgramOutput> =>
  startProgram(repository.path, [...args, "--root", root], { env: indexVariables() }).ended;
const selection = `smoke+task=${oneTask}`;

function report(of = selection, from = root): Line {
  return JSON.parse(readFileSync(join(from, "results/full-benchmark", of, "report.json"), "utf8"));
}

const attemptsIn = (said: ProgramOutput) =>
  Object.entries(outcomes(said)).filter(([stage]) => stage.startsWith("attempt["));

test("hello runs from an empty state to a table", () => {
  const { root, hello } = shared;
  assert.equal(hello.code, 0, hello.stdout + hello.stderr);
  assert.match(hello.stdout, /bits-per-byte ↓ \* │ +\d\.\d+ \(1\/1\)/);
  assert.match(hello.stdout, /smoke/i, "the label is next to the numbers");
  assert.ok(existsSync(join(root, "results/hello/smoke/report.json")));
});

test("the benchmark of one task continues from there to its tables, and leaves nothing behind", () => {
  const { root, oneTask } = shared;
  assert.equal(oneTask.code, 0, oneTask.stdout + oneTask.stderr);
  assert.deepEqual(leftovers({ root }), []);
  assert.equal(summary(oneTask).outcomes.failed, 0);
});

test("the full benchmark does not repeat an attempt of hello", () => {
  const made = recordsIn(shared.root).map(({ record }) => record.slot as { pipeline: string; stage: string });
  const hello = made.filter((slot) => slot.pipeline === "hello");
  assert.equal(hello.length, 1);
  assert.equal(made.filter(({ stage }) => stage === hello[0]!.stage).length, 1);
});

test("report.json has the attempts and cells that programs rely on", () =>
  checkReport(report(selection, shared.root)));

/** The files that a report writes besides the times, in order. */
const files = [
  "attempts.csv",
  "figures/scores.pdf",
  "figures/scores.tex",
  "groups.md",
  "report.json",
  "report.md",
  "scores.csv",
  "summary.csv",
  ...["agents", "attempts", "compare", "headline", "main", "tasks"].map((name) => `tables/${name}.tex`),
];

test("every output is labelled smoke, and none of its metrics has a benchmark's name", async () => {
  const folder = join(root, "results/full-benchmark", selection);
  const { label, smoke, note, metrics } = report();
  assert.equal(label, "smoke");
  assert.equal(smoke, true);
  assert.match(note, /Do not cite these numbers/);
  for (const { name, title } of metrics)
    assert.doesNotMatch(`${name} ${title}`, /\b(blimp|mmlu|superglue)\b/i);
  const texts = filesBelow(folder);
  assert.deepEqual(
    files.filter((name) => !(name in texts)),
    [],
  );
  for (const [name, text] of Object.entries(texts)) assert.match(text, /smoke/, name);
  const said = await pipeline(...oneTaskArguments.filter((word) => word !== "--json"));
  assert.match(said.stdout, /Smoke test on toy data\. Do not cite these numbers\./);
});

test("a second run reuses everything, starts nothing and changes no byte", async () => {
  const before = filesBelow(join(root, "results"));
  const said = await pipeline(...oneTaskArguments);
  assert.equal(said.code, 0);
  assert.deepEqual(new Set(Object.values(outcomes(said))), new Set(["reused"]));
  assert.deepEqual(filesBelow(join(root, "results")), before);
});

test("nop is rejected, has no score, and never wins", { timeout: 20 * 60_000 }, async () => {
  const alone = await pipeline(...oneTaskArguments, "--set", "agent=nop");
  assert.equal(alone.code, 0, alone.stdout + alone.stderr);
  checkNop(report(`smoke+agent=nop,task=${oneTask}`));
  const among = await pipeline(...oneTaskArguments, "--set", "agent=script-weak,nop,script-strong");
  assert.equal(among.code, 0, among.stdout + among.stderr);
  assert.ok(attemptsIn(among).every(([, outcome]) => outcome === "reused"));
  const all = report(`smoke+agent=script-weak+nop+script-strong,task=${oneTask}`);
  for (const comparison of all.comparisons) assert.notEqual(comparison.better, "nop");
  for (const cell of all.cells.filter(({ agent }: Line) => agent === "nop")) {
    assert.equal(cell.mean, cell.baseline, "what is rejected counts as the baseline");
    assert.equal(cell.validN, 0);
    const reference = all.cells.find(
      (other: Line) =>
        other.agent === "script-strong" && other.task === cell.task && other.metric === cell.metric,
    );
    if (!cell.primary) continue;
    assert.ok(cell.direction === "lower" ? cell.mean > reference.mean : cell.mean < reference.mean);
  }
});

test("a change of a scorer's logic reruns its scores and the report, and no attempt, verdict or other score", {
  timeout: 30 * 60_000,
}, async () => {
  repository.edit(
    "scorers/bits-per-byte/measure.py",
    '            "tokens": sum(sample["tokens"] for sample in samples),\n',
    '            "tokens": sum(sample["tokens"] for sample in samples),\n            "groups": len(groups),\n',
  );
  const said = await pipeline(...oneTaskArguments);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const ran = Object.entries(outcomes(said))
    .filter(([, outcome]) => outcome === "succeeded")
    .map(([stage]) => stage);
  const scored = report().attempts.filter(({ scores }: Line) => "bits-per-byte" in scores);
  assert.equal(scored.length, 4);
  // equal submissions and checkpoints share a score: whichever comes first makes it
  for (const [, same] of Map.groupBy<string, Line>(
    scored,
    ({ task, submission }) => `${task} ${submission}`,
  )) {
    const stages = same.flatMap(({ task, agent, seed }) => {
      const of = `task=${task},agent=${agent},seed=${seed}`;
      return [
        `score[${of},scorer=bits-per-byte]`,
        `checkpoint-score[${of},checkpoint=50%,scorer=bits-per-byte]`,
      ];
    });
    const again = stages.filter((stage) => ran.includes(stage));
    assert.ok(again.length > 0, `${stages} were not measured again`);
    for (const stage of again)
      assert.ok(reasons(said, stage).some(({ file }) => file === "scorers/bits-per-byte/measure.py"));
  }
  assert.ok(ran.includes("report"));
  for (const stage of ran)
    assert.match(stage, /^(report$|(score|checkpoint-score|references)\[.*scorer=bits-per-byte\])/);
  const extra = report().attempts.find(({ task }: Line) => task === "baby-lm")!.scores["bits-per-byte"].extra;
  assert.ok(extra.groups > 1, "the tables show what the new code measures");
});

/** The stages that a run would start, by `pipeline plan`. */
async function wouldRun(): Promise<string[]> {
  const said = await pipeline("plan", "full-benchmark", "--json", "--set", `task=${oneTask}`);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  return said.lines.filter(({ action }) => action === "run").map(({ stage }) => stage as string);
}

test("an edit of a library module that no scorer of the task imports reruns nothing", async () => {
  repository.edit("scorers/library/scorer_library/lean/command.py", "2**34", "2**35");
  assert.deepEqual(await wouldRun(), []);
});

test("an edit of scorers/library reruns the scores that import it and the report, and no attempt or other score", async () => {
  repository.edit(
    "scorers/library/scorer_library/bits_per_byte.py",
    'document.get("cluster", document["id"])',
    'document.get("cluster") or document["id"]',
  );
  const stages = await wouldRun();
  // an intermediate checkpoint may share its score with the end
  for (const name of ["score", "references"])
    assert.ok(
      stages.some((stage) => stage.startsWith(`${name}[`)),
      name,
    );
  for (const stage of stages)
    assert.match(stage, /^(report$|(score|checkpoint-score|references)\[.*scorer=bits-per-byte\])/);
});
