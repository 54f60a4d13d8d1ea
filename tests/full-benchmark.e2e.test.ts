// The README's command for real: data, training, rules, scores and tables, killed again and again, edited,
// narrowed. Minutes long, and one state folder for all of it but the kills: each test goes on where the last one ended.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { indexVariables } from "./support/demonstration/play.ts";
import { testEngine } from "./support/docker-engine.ts";
import { actionsIn, recordsIn } from "./support/end-state.ts";
import { shareEnvironments } from "./support/environments.ts";
import { filesBelow, leftovers, outcomes, reasons, summary } from "./support/lab.ts";
import { randomKills } from "./support/random-kills.ts";
import { type Line, type Said, startProgram } from "./support/run-program.ts";
import { stagePrograms } from "./support/stage-programs.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const root = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-benchmark-")));
after(() => {
  repository.remove();
  rmSync(root, { recursive: true, force: true });
});
shareEnvironments(root);

const start = (...args: string[]) =>
  startProgram(repository.path, [...args, "--root", root], { env: indexVariables() });
const pipeline = (...args: string[]): Promise<Said> => start(...args).ended;

function report(selection = "smoke"): Line {
  return JSON.parse(readFileSync(join(root, "results/full-benchmark", selection, "report.json"), "utf8"));
}

/** What a report lays out beside the times, in order. */
const files = [
  "groups.csv",
  "groups.md",
  "groups.tex",
  "report.csv",
  "report.json",
  "report.md",
  "report.tex",
];

const attemptsIn = (said: Said) =>
  Object.entries(outcomes(said)).filter(([stage]) => stage.startsWith("attempt["));

test("hello goes from nothing to a table", { timeout: 30 * 60_000 }, async () => {
  const said = await pipeline("run", "hello");
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.match(said.stdout, /bits per byte/i);
  assert.match(said.stdout, /smoke/i, "the label stands where the numbers stand");
  assert.ok(existsSync(join(root, "results/hello/smoke/report.json")));
  assert.deepEqual(leftovers({ root }), []);
});

test("the full benchmark goes from there to its tables, and leaves nothing behind", {
  timeout: 40 * 60_000,
}, async () => {
  const said = await pipeline("run", "full-benchmark", "--json");
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.deepEqual(leftovers({ root }), []);
  assert.equal(summary(said).outcomes.failed, 0);
});

test("in containers, without network and without a run before, the same submissions come out and get the same scores", {
  timeout: 60 * 60_000,
}, async (t) => {
  const engine = await testEngine();
  if ("skip" in engine) return t.skip(engine.skip);
  t.after(() => engine.stop());
  const there = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-docker-smoke-")));
  t.after(() => rmSync(there, { recursive: true, force: true }));
  shareEnvironments(there);
  const env = { ...indexVariables(), DOCKER_HOST: engine.env.DOCKER_HOST!, MLRB_CONTAINER_ENGINE: "docker" };
  const args = ["run", "full-benchmark", "--profile", "docker-smoke", "--set", "seed=1", "--json"];
  const said = await startProgram(repository.path, [...args, "--root", there], { env }).ended;
  const failed = said.stdout.split("\n").filter((line) => line.includes('"outcome":"failed"'));
  assert.equal(said.code, 0, [...failed, said.stderr].join("\n"));
  assert.deepEqual(leftovers({ root: there }), []);
  assert.equal(engine.docker("ps", "--all", "--quiet").stdout, "", "no container stays");
  const attempts = (from: Line, seed: number) => (from.attempts as Line[]).filter((one) => one.seed === seed);
  const inContainers = JSON.parse(
    readFileSync(join(there, "results/full-benchmark/docker-smoke+seed=1/report.json"), "utf8"),
  ) as Line;
  const comparable = (one: Line) => {
    const { task, agent, submission } = one;
    // the words of a rule may count the attempts that it looked at
    const verdict = [
      one.verdict.kind,
      ...(one.verdict.rules as Line[]).map(({ rule, answer }) => [rule, answer]),
    ];
    const scores = Object.entries(one.scores as Line).filter(([scorer]) => !isHostSensitive(scorer));
    assert.ok(scores.length > 0, `${task} has no score that can be compared`);
    return { task, agent, verdict, submission, scores };
  };
  assert.equal(attempts(inContainers, 1).length, 14);
  assert.deepEqual(attempts(inContainers, 1).map(comparable), attempts(report(), 1).map(comparable));
  const ran = actionsIn(there).map(({ ran }) => ran);
  assert.deepEqual(new Set(ran.map(({ executor }) => executor)), new Set(["docker"]));
  for (const { record } of recordsIn(there))
    assert.equal((record.ran as { where: Line }).where.sandbox, "docker");
});

/** Whether what a scorer measures is the machine's. */
function isHostSensitive(scorer: string): boolean {
  return /^hostSensitive: true/m.test(
    readFileSync(join(repository.path, "scorers", scorer, "scorer.yaml"), "utf8"),
  );
}

// One task, that twenty beginnings take minutes; the runner treats all of them alike.
test("twenty random kills of runner, stage or both end in the same tables; no attempt on record is made again", {
  skip: process.platform === "linux" ? false : "stages can be found among the processes on Linux only",
  timeout: 60 * 60_000,
}, async (t) => {
  const killed = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-kills-")));
  t.after(() => rmSync(killed, { recursive: true, force: true }));
  shareEnvironments(killed);
  const seed = Number(process.env.MLRB_KILL_SEED ?? Math.floor(Math.random() * 1e9));
  const narrowed = ["run", "full-benchmark", "--json", "--set", "task=baby-lm"];
  const clean = await pipeline(...narrowed);
  assert.equal(clean.code, 0, clean.stdout + clean.stderr);
  const { attempts } = report("smoke+task=baby-lm");
  const args = [...narrowed, "--root", killed];
  const { story, said } = await randomKills({
    root: killed,
    start: () => startProgram(repository.path, args, { env: indexVariables() }),
    kills: 20,
    seed,
    attempts: attempts.length,
  });
  t.diagnostic(story.join("; "));
  const hint = `${story.join("\n")}\n(MLRB_KILL_SEED=${seed} throws the same dice)\n${said.stdout}${said.stderr}`;
  assert.equal(said.code, 0, hint);
  const keys = recordsIn(killed).map(({ record }) => record.attemptKey);
  assert.equal(keys.length, attempts.length, hint);
  assert.equal(new Set(keys).size, keys.length, hint);
  const tables = (from: string) => {
    const files = filesBelow(join(from, "results/full-benchmark/smoke+task=baby-lm"));
    const clockless = (name: string) => !name.startsWith("times.") && name !== "report.html";
    return Object.fromEntries(Object.entries(files).filter(([name]) => clockless(name)));
  };
  assert.deepEqual(Object.keys(tables(killed)).sort(), files);
  for (const [name, bytes] of Object.entries(tables(root))) assert.equal(tables(killed)[name], bytes, hint);
  assert.deepEqual(leftovers({ root: killed }), [], hint);
  assert.deepEqual(stagePrograms(killed), [], hint);
});

test("an attempt that hello has made is not made again by the full benchmark", () => {
  const made = recordsIn(root).map(({ record }) => record.slot as { pipeline: string; stage: string });
  const hello = made.filter((slot) => slot.pipeline === "hello");
  assert.equal(hello.length, 1);
  assert.equal(made.filter(({ stage }) => stage === hello[0]!.stage).length, 1);
});

test("reference beats minimal on every task's primary metric by more than two paired standard errors", () => {
  const { comparisons, cells, tasks } = report();
  for (const { name: task, primary } of tasks) {
    const of = (list: Line[]) => list.filter((one) => one.task === task && one.metric === primary);
    const [compared, ...rest] = of(comparisons);
    assert.equal(rest.length, 0, task);
    assert.equal(compared!.kind, "compared", `${task}: ${compared!.why}`);
    assert.equal(compared!.better, "reference", task);
    assert.equal(compared!.clear, true, task);
    assert.deepEqual(compared!.seeds, [1, 2], task);
    const error = Math.max(compared!.standardError, compared!.clusteredStandardError ?? 0);
    assert.ok(error > 0, task);
    assert.ok(Math.abs(compared!.difference) > 2 * error, `${task}: ${compared!.difference} ± ${error}`);
    const mean = (agent: string) => of(cells).find((cell) => cell.agent === agent)!;
    const [minimal, reference] = [mean("minimal"), mean("reference")];
    assert.ok(
      reference.direction === "lower" ? reference.mean < minimal.mean : reference.mean > minimal.mean,
      task,
    );
  }
});

test("baby-lm's baselines know more than how frequent tokens are", () => {
  const { cells, rows } = report();
  const of = (list: Line[]) =>
    list.filter(({ task, metric }) => task === "baby-lm" && metric === "bits-per-byte");
  const unigram = of(rows).find(({ name }) => name === "unigram")!;
  const measured = of(cells);
  assert.deepEqual(measured.map(({ agent }) => agent).sort(), ["minimal", "reference"]);
  for (const { agent, values, direction } of measured) {
    assert.equal(direction, "lower");
    for (const value of values)
      assert.ok(value > 0 && value < unigram.value, `${agent}: ${value} against ${unigram.value}`);
  }
});

test("report.json holds attempts and cells as programs rely on them", () => {
  const { attempts, cells, tasks, agents } = report();
  const seeds = new Set(attempts.map(({ seed }: Line) => seed));
  assert.deepEqual([...seeds].sort(), [1, 2]);
  assert.equal(attempts.length, tasks.length * agents.length * seeds.size, "every attempt is there");
  for (const attempt of attempts) {
    assert.equal(attempt.verdict.kind, "pass", JSON.stringify(attempt));
    assert.match(attempt.submission, /^[0-9a-f]{64}$/);
    assert.ok(Object.keys(attempt.scores).length >= 1);
    for (const score of Object.values<Line>(attempt.scores)) {
      assert.equal(score.kind, "scored", JSON.stringify(attempt));
      assert.ok(Number.isFinite(score.value) && Number.isFinite(score.standardError));
    }
  }
  for (const cell of cells) {
    for (const name of [
      "task",
      "agent",
      "metric",
      "primary",
      "direction",
      "values",
      "mean",
      "interval",
      "measured",
      "planned",
    ]) {
      assert.ok(name in cell, `a cell lacks ${name}`);
    }
    assert.ok(cell.direction === "higher" || cell.direction === "lower");
    assert.deepEqual([cell.measured, cell.planned, cell.values.length], [seeds.size, seeds.size, seeds.size]);
    const centre = cell.values.reduce((sum: number, value: number) => sum + value, 0) / cell.values.length;
    assert.ok(Math.abs(cell.mean - centre) < 1e-12);
    if (cell.intervalWithheld === null)
      assert.ok(cell.interval[0] <= cell.mean && cell.mean <= cell.interval[1]);
    else {
      assert.deepEqual([cell.intervalWithheld, cell.interval], ["no-spread", null]);
      assert.equal(new Set(cell.values).size, 1, "values that differ have an interval");
    }
  }
  for (const { name, primary } of tasks) {
    const decides = cells.filter((cell: Line) => cell.task === name && cell.primary);
    assert.deepEqual(new Set(decides.map(({ metric }: Line) => metric)), new Set([primary]));
    assert.equal(decides.length, agents.length);
  }
});

test("every output says that it is smoke, and none of its metrics bears a benchmark's name", async () => {
  const folder = join(root, "results/full-benchmark/smoke");
  const { label, smoke, note, metrics } = report();
  assert.equal(label, "smoke");
  assert.equal(smoke, true);
  assert.match(note, /says nothing about English or about agents/);
  for (const { name, title } of metrics)
    assert.doesNotMatch(`${name} ${title}`, /\b(blimp|mmlu|superglue)\b/i);
  const texts = filesBelow(folder);
  assert.deepEqual(
    files.filter((name) => !(name in texts)),
    [],
  );
  for (const [name, text] of Object.entries(texts)) assert.match(text, /smoke/, name);
  const said = await pipeline("run", "full-benchmark");
  assert.match(said.stdout, /smoke: shows that the machinery measures/);
});

test("a second run reuses everything, starts nothing and changes no byte", async () => {
  const before = filesBelow(join(root, "results"));
  const said = await pipeline("run", "full-benchmark", "--json");
  assert.equal(said.code, 0);
  assert.deepEqual(new Set(Object.values(outcomes(said))), new Set(["reused"]));
  assert.deepEqual(filesBelow(join(root, "results")), before);
});

test("nop is rejected everywhere, has no score, and never wins", { timeout: 20 * 60_000 }, async () => {
  const alone = await pipeline("run", "full-benchmark", "--json", "--set", "agent=nop");
  assert.equal(alone.code, 0, alone.stdout + alone.stderr);
  const only = report("smoke+agent=nop");
  assert.ok(only.attempts.length > 0);
  for (const { agent, verdict, scores } of only.attempts) {
    assert.equal(agent, "nop");
    assert.equal(verdict.kind, "rejected");
    for (const { kind, reason } of Object.values<Line>(scores)) {
      assert.equal(kind, "rejected");
      assert.ok(reason.length > 0);
    }
  }
  const among = await pipeline("run", "full-benchmark", "--json", "--set", "agent=minimal,nop,reference");
  assert.equal(among.code, 0, among.stdout + among.stderr);
  assert.ok(attemptsIn(among).every(([, outcome]) => outcome === "reused"));
  const all = report("smoke+agent=minimal+nop+reference");
  for (const comparison of all.comparisons) assert.notEqual(comparison.better, "nop");
  for (const cell of all.cells.filter(({ agent }: Line) => agent === "nop")) {
    assert.equal(cell.mean, cell.floor, "what is rejected counts as the floor");
    assert.equal(cell.validN, 0);
    const reference = all.cells.find(
      (other: Line) =>
        other.agent === "reference" && other.task === cell.task && other.metric === cell.metric,
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
  const said = await pipeline("run", "full-benchmark", "--json");
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const ran = Object.entries(outcomes(said))
    .filter(([, outcome]) => outcome === "succeeded")
    .map(([stage]) => stage);
  const scored = report().attempts.filter(({ scores }: Line) => "bits-per-byte" in scores);
  assert.ok(scored.length > 4);
  // equal submissions share a score, and so do moments: whichever comes first makes it
  for (const [, same] of Map.groupBy<string, Line>(
    scored,
    ({ task, submission }) => `${task} ${submission}`,
  )) {
    const stages = same.flatMap(({ task, agent, seed }) => {
      const of = `task=${task},agent=${agent},seed=${seed}`;
      return [`score[${of},scorer=bits-per-byte]`, `moment-score[${of},moment=50%,scorer=bits-per-byte]`];
    });
    const again = stages.filter((stage) => ran.includes(stage));
    assert.ok(again.length > 0, `${stages} were not measured again`);
    for (const stage of again)
      assert.ok(reasons(said, stage).some(({ file }) => file === "scorers/bits-per-byte/measure.py"));
  }
  assert.ok(ran.includes("report"));
  for (const stage of ran)
    assert.match(stage, /^(report$|(score|moment-score|anchors)\[.*scorer=bits-per-byte\])/);
  const extra = report().attempts.find(({ task }: Line) => task === "baby-lm")!.scores["bits-per-byte"].extra;
  assert.ok(extra.groups > 1, "the tables show what the new code measures");
});
