// `pipeline score`: any folder is validated and scored like an attempt's submission.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { makeAttemptFolder } from "@mlrb/local/attempts/attempt-folders";
import { thisProcess } from "@mlrb/local/leases/owner";
import { exampleCard } from "@mlrb/local/testing/example-record";
import { makeSubmissions } from "../scorers/testing/submissions.ts";
import { copyBenchmarkState } from "./support/benchmark-state.ts";
import { recordsIn } from "./support/end-state.ts";
import { filesBelow } from "./support/lab.ts";
import { startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const above = mkdtempSync(join(tmpdir(), "mlrb-score-"));
const root = join(above, "root");
await copyBenchmarkState(root);
after(() => {
  repository.remove();
  removeFolder(above);
});

const score = (...args: string[]) => startProgram(repository.path, ["score", ...args, "--root", root]).ended;

test("every scorer rejects an empty folder, next to trivial baselines and reference models; the second time all is reused", async () => {
  const folder = join(above, "empty");
  mkdirSync(folder);
  const attempts = recordsIn(root).length;
  const successes = () => readFileSync(join(root, ".mlrb/cache/last/full-benchmark/smoke.jsonl"), "utf8");
  const before = successes();
  const said = await score(folder, "--task", "baby-lm", "--json");
  assert.equal(said.code, 0, said.stderr);
  const [submission, verdict, ...scores] = said.lines;
  assert.equal(submission!.files, 0);
  assert.equal(verdict!.kind, "rejected");
  assert.ok(scores.length >= 2, said.stdout + said.stderr);
  for (const one of scores) {
    assert.equal(one.kind, "rejected", JSON.stringify(one));
    assert.equal(one.baseline.kind, "known");
    assert.ok(one.references.length > 0);
  }
  assert.equal(recordsIn(root).length, attempts, "it is no attempt");
  assert.equal(
    successes(),
    before,
    "a report would miss the attempt whose stages last judged another folder",
  );
  const again = await score(folder, "--task", "baby-lm");
  assert.equal(again.code, 0);
  assert.match(again.stdout, /as a submission to baby-lm \(smoke\): rejected/);
  assert.match(again.stdout, /this submission +│ rejected/);
  assert.match(again.stdout, /in-time: undecided \(disqualify\): there was no attempt/);
  assert.doesNotMatch(again.stderr, /start {3}/, "nothing was started");
});

test("links and pipes in the folder are left out by name, and nothing behind them is read", async () => {
  const folder = join(above, "links");
  mkdirSync(folder);
  symlinkSync("/etc/passwd", join(folder, "config.json"));
  symlinkSync("..", join(folder, "up"));
  writeFileSync(join(folder, "notes.txt"), "x");
  const said = await score(folder, "--task", "baby-lm", "--json");
  assert.equal(said.code, 0, said.stderr);
  const { files, leftOut } = said.lines[0]!;
  assert.equal(files, 1);
  assert.deepEqual(leftOut.map(({ path }: { path: string }) => path).sort(), ["config.json", "up"]);
  assert.equal(said.lines[1]!.kind, "rejected");
});

test("attempts score measures what a running or recorded attempt has, follows none of its links, and leaves it alone", async () => {
  const slot = {
    pipeline: "full-benchmark",
    profile: "smoke",
    stage: "attempt[task=baby-lm,agent=slow,seed=1]",
  };
  const card = { ...exampleCard, slot, axes: { task: "baby-lm", agent: "slow", seed: 1 }, by: thisProcess() };
  const { path, name } = makeAttemptFolder(join(root, ".mlrb/attempts/running"), card);
  writeFileSync(join(path, "supervisor.json"), JSON.stringify(thisProcess()));
  const scored = (what: string) =>
    startProgram(repository.path, ["attempts", "score", what, "--root", root]).ended;
  const early = await scored(name);
  assert.equal(early.code, 2, early.stderr);
  assert.match(early.stderr, /no-submission: .* has no workspace here yet/);

  const secret = join(above, "secret");
  mkdirSync(secret);
  writeFileSync(join(secret, "key"), "of the host");
  const workspace = join(path, "attempt-1/sandbox-1/workspace");
  mkdirSync(workspace, { recursive: true });
  symlinkSync(secret, join(workspace, "submission"));
  const before = filesBelow(path);
  const running = await scored(slot.stage);
  assert.equal(running.code, 0, running.stderr);
  assert.match(running.stdout, /rejected/);
  assert.doesNotMatch(running.stderr, /start {3}/, "an empty submission was scored before");
  assert.deepEqual(filesBelow(path), before);
  rmSync(path, { recursive: true });

  const named = (record: Record<string, unknown>) => JSON.stringify(record.slot);
  const reference = "attempt[task=baby-lm,agent=script-strong,seed=1]";
  const { digest } = recordsIn(root).find(({ record }) => named(record).includes(reference))!;
  const recorded = await scored(digest);
  assert.equal(recorded.code, 0, recorded.stderr);
  assert.match(recorded.stdout, /Bits per byte[\s\S]*this submission/);
  assert.doesNotMatch(recorded.stderr, /start {3}(load|causality|score)/, "the benchmark has these scores");
});

/** `generate` for every start of a stage of that name that the run reported. */
const started = (stderr: string) =>
  [...stderr.matchAll(/start +(\S+?)(?:\[(\S*)\])? {2}/g)].map(([, name = "", axes = ""]) =>
    `${name} ${/scorer=([^,]*)/.exec(axes)?.[1] ?? ""}`.trim(),
  );

test("a model generates once for all four scorers of its texts, and not again for a scorer that changed", {
  timeout: 15 * 60_000,
}, async () => {
  const models = join(above, "models");
  mkdirSync(models);
  makeSubmissions(models);
  const asked = [join(models, "tiny"), "--task", "math-reasoning"];
  const first = await score(...asked);
  assert.equal(first.code, 0, first.stderr);
  const writing = (names: string[]) =>
    names.filter((name) => /^(generate|reference-answers)/.test(name)).sort();
  const scoring = (names: string[]) => names.filter((name) => /^score /.test(name)).sort();
  assert.deepEqual(writing(started(first.stderr)), ["generate", "reference-answers"]);
  const scorers = ["bleu", "lean-compiles", "lean-faithful", "rouge-l"];
  assert.deepEqual(
    scoring(started(first.stderr)),
    scorers.map((scorer) => `score ${scorer}`),
  );
  assert.match(first.stdout, /gold-proofs \(reference model\)/);

  repository.edit("scorers/bleu/bleu_score.py", "    if count == 1:\n", "    if count < 2:\n");
  const edited = await score(...asked);
  assert.equal(edited.code, 0, edited.stderr);
  assert.deepEqual(started(edited.stderr).sort(), ["references bleu", "score bleu"]);
  assert.equal(edited.stdout, first.stdout);
});

test("a model whose output is NaN is rejected by all scorers of its texts, for the same reason", {
  timeout: 15 * 60_000,
}, async () => {
  const said = await score(join(above, "models/nan-weights"), "--task", "math-reasoning", "--json");
  assert.equal(said.code, 0, said.stderr);
  const scores = said.lines.filter(({ event }) => event === "score");
  assert.deepEqual(
    scores.map(({ kind, reason }) => [kind, reason]),
    Array(4).fill(["rejected", "non-finite output"]),
  );
});

test("a model with a setting that may change it and that the benchmark does not know is not measured, and the cause names the setting", {
  timeout: 15 * 60_000,
}, async () => {
  const folder = join(above, "models/quantized");
  cpSync(join(above, "models/tiny"), folder, { recursive: true });
  const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
  const quantized = { ...config, quantization_config: { quant_method: "fp8" } };
  writeFileSync(join(folder, "config.json"), JSON.stringify(quantized));
  const said = await score(folder, "--task", "baby-lm", "--json");
  assert.equal(said.code, 1, said.stderr);
  const scores = said.lines.filter(({ event }) => event === "score");
  assert.ok(scores.length >= 2, said.stdout + said.stderr);
  for (const { kind, cause } of scores) {
    assert.equal(kind, "not measured");
    assert.match(cause, /undecided: config\.json: "quantization_config" changes how weights are read/);
  }
  const verdict = said.lines.find(({ event }) => event === "verdict")!;
  const note = verdict.rules.find(({ rule }: { rule: string }) => rule === "known-settings");
  assert.deepEqual([note.answer, note.severity], ["undecided", "note"]);
});

test("if answers cannot be written through our fault, scores are not measured and the rest is unaffected", {
  timeout: 15 * 60_000,
}, async () => {
  repository.edit(
    "pipelines/generate/proofs.py",
    "    return predictions",
    "    raise OSError('no room')\n    return predictions",
  );
  const said = await score(join(above, "models/tiny"), "--task", "math-reasoning", "--json");
  assert.equal(said.code, 1, said.stderr);
  const scores = said.lines.filter(({ event }) => event === "score");
  assert.equal(scores.length, 4);
  for (const { kind, cause } of scores) {
    assert.equal(kind, "not measured");
    assert.match(cause, /^needs generate\[task=math-reasoning/);
  }
  // there was no attempt, so the rule on time is undecided
  assert.equal(said.lines.find(({ event }) => event === "verdict")!.kind, "undecided");
});

test("a missing folder, an unknown task, or a pipeline without attempts is refused before anything runs", async () => {
  const file = join(above, "file");
  writeFileSync(file, "x");
  const folder = join(above, "some");
  mkdirSync(folder);
  for (const [args, words] of [
    [[file, "--task", "baby-lm"], /bad-submission: .*file is a file; a submission is a folder/],
    [[join(above, "nowhere"), "--task", "baby-lm"], /bad-submission: there is no folder/],
    [[folder, "--task", "babylm"], /unknown-task: .*babylm[\s\S]*did you mean "baby-lm"/],
    [[folder, "--task", "baby-lm", "--jobs", "0"], /bad-jobs/],
    [[folder, "--task", "baby-lm", "--pipeline", "nothing"], /unknown-pipeline/],
    [[folder], /required option '--task <name>'/],
  ] as const) {
    const said = await score(...args);
    assert.equal(said.code, 2, `${args.join(" ")}: ${said.stderr}`);
    assert.match(said.stderr, words);
  }
});
