// The README's command: data, training, rules, scores and tables, as processes and in containers. The task of
// one-task.e2e.test.ts with both seeds, and another, drawn each time, with one. MLRB_TEST_TASKS names the others
// (a,b; "all": every task), and MLRB_TEST_SEEDED_TASKS those that run with both seeds. One state folder: each test
// continues from the previous one.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { parse } from "yaml";
import { copyBenchmarkState, oneTask } from "./support/benchmark-state.ts";
import { indexVariables } from "./support/demonstration/play.ts";
import { actionsIn, recordsIn } from "./support/end-state.ts";
import { shareEnvironments } from "./support/environments.ts";
import { leftovers, outcomes, summary } from "./support/lab.ts";
import { testEngine } from "./support/machines/docker-engine.ts";
import { checkAttempts, checkNop, checkReport } from "./support/report-checks.ts";
import { type Line, type ProgramOutput, startProgram } from "./support/run-program.ts";
import { drawn, smokesIn, testSeed } from "./support/test-seed.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const above = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-benchmark-")));
const root = join(above, "root");
after(() => {
  repository.remove();
  removeFolder(above);
});
await copyBenchmarkState(root);

const start = (...args: string[]) =>
  startProgram(repository.path, [...args, "--root", root], { env: indexVariables() });
const pipeline = (...args: string[]): Promise<ProgramOutput> => start(...args).ended;

const every = (
  parse(readFileSync(join(repository.path, "pipelines/full-benchmark.yaml"), "utf8")) as Line
).axes.task.filter((task: string) => task !== oneTask) as string[];
/** One of a task that trains and one that gets a model and generates; the others use the same code. */
const inContainersToo = process.env.MLRB_TEST_CONTAINER_TASK ?? [oneTask, "math-reasoning"][testSeed % 2]!;
const agentInContainers = drawn(["script-weak", "script-strong"], 1)[0]!;
const tasks = named(process.env.MLRB_TEST_TASKS) ?? sampled();
console.log(
  `with MLRB_TEST_TASKS=${tasks.join(",")}, and in containers with MLRB_TEST_CONTAINER_TASK=${inContainersToo}`,
);
const twice = named(process.env.MLRB_TEST_SEEDED_TASKS) ?? [];
const bothSeeds = `task=${[oneTask, ...twice].join(",")}`;

function named(asked: string | undefined): string[] | undefined {
  return asked === "all" ? every : asked?.split(",");
}

/** The task that also runs in containers, or else any. */
function sampled(): string[] {
  return inContainersToo === oneTask ? drawn(every, 1) : [inContainersToo];
}

/** The folders of tables: of the run with one seed, and of the one with both. */
let firstSeed = "";
let seeded = "";

function report(results = seeded): Line {
  return JSON.parse(readFileSync(join(root, results, "report.json"), "utf8"));
}

/** The folder of a run's tables. */
function resultsOf(said: ProgramOutput): string {
  return said.lines.findLast(({ event }) => event === "summary")!.results;
}

/** The outcomes of the attempts of a run that ended well and left nothing behind. */
function attemptsOf(said: ProgramOutput): [stage: string, outcome: string][] {
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.deepEqual(leftovers({ root }), []);
  assert.equal(summary(said).outcomes.failed, 0);
  return Object.entries(outcomes(said)).filter(([stage]) => stage.startsWith("attempt["));
}

test("the full benchmark extends a run of one task to the tables of several, repeats no attempt, and leaves nothing behind", {
  timeout: 40 * 60_000,
}, async () => {
  const selection = ["--set", "seed=1", "--set", `task=${[oneTask, ...tasks].join(",")}`];
  const said = await pipeline("run", "full-benchmark", "--json", ...selection);
  const attempts = attemptsOf(said);
  assert.equal(attempts.length, 2 * (tasks.length + 1));
  for (const [stage, outcome] of attempts)
    assert.equal(outcome, stage.includes(`task=${oneTask},`) ? "reused" : "succeeded", stage);
  firstSeed = resultsOf(said);
  checkAttempts(report(firstSeed), [1]);
});

test("a second seed repeats no attempt of the first", { timeout: 40 * 60_000 }, async () => {
  const said = await pipeline("run", "full-benchmark", "--json", "--set", bothSeeds, "--set", "seed=1,2");
  seeded = resultsOf(said);
  const attempts = attemptsOf(said);
  assert.equal(attempts.length, 4 * (twice.length + 1));
  for (const [stage, outcome] of attempts) {
    const before = stage.includes(`task=${oneTask},`) || stage.includes("seed=1");
    assert.equal(outcome, before ? "reused" : "succeeded", stage);
  }
});

test("in containers, without network and from an empty state, the same submissions result and get the same scores", {
  skip: smokesIn("docker"),
  timeout: 60 * 60_000,
}, async (t) => {
  const engine = await testEngine();
  if ("skip" in engine) return t.skip(engine.skip);
  t.after(() => engine.stop());
  const there = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-docker-smoke-")));
  t.after(() => removeFolder(there));
  shareEnvironments(there);
  const env = { ...indexVariables(), DOCKER_HOST: engine.env.DOCKER_HOST!, MLRB_CONTAINER_ENGINE: "docker" };
  const args = ["run", "full-benchmark", "--profile", "docker-smoke", "--set", "seed=1", "--json"];
  args.push("--set", `task=${inContainersToo}`, "--set", `agent=${agentInContainers}`);
  const said = await startProgram(repository.path, [...args, "--root", there], { env }).ended;
  const failed = said.stdout.split("\n").filter((line) => line.includes('"outcome":"failed"'));
  assert.equal(said.code, 0, [...failed, said.stderr].join("\n"));
  assert.deepEqual(leftovers({ root: there }), []);
  assert.equal(engine.docker("ps", "--all", "--quiet").stdout, "", "no container stays");
  const attempts = (from: Line) =>
    (from.attempts as Line[]).filter(
      ({ seed, task, agent }) => seed === 1 && task === inContainersToo && agent === agentInContainers,
    );
  const inContainers = JSON.parse(
    readFileSync(
      join(
        there,
        "results/full-benchmark",
        `docker-smoke+agent=${agentInContainers},seed=1,task=${inContainersToo}`,
        "report.json",
      ),
      "utf8",
    ),
  ) as Line;
  const comparable = (one: Line) => {
    const { task, agent, submission } = one;
    // the text of a rule may count the attempts that it compared
    const verdict = [
      one.verdict.kind,
      // own-weights compares with the task's other attempts, which do not run there
      ...(one.verdict.rules as Line[])
        .filter(({ rule }) => rule !== "own-weights")
        .map(({ rule, answer }) => [rule, answer]),
    ];
    const scores = Object.entries(one.scores as Line).filter(([scorer]) => !isHostSensitive(scorer));
    assert.ok(scores.length > 0, `${task} has no score that can be compared`);
    return { task, agent, verdict, submission, scores };
  };
  assert.equal(attempts(inContainers).length, 1);
  assert.deepEqual(attempts(inContainers).map(comparable), attempts(report(firstSeed)).map(comparable));
  const ran = actionsIn(there).map(({ ran }) => ran);
  assert.deepEqual(new Set(ran.map(({ executor }) => executor)), new Set(["docker"]));
  for (const { record } of recordsIn(there))
    assert.equal((record.ran as { where: Line }).where.sandbox, "docker");
});

/** Whether a scorer's values depend on the machine. */
function isHostSensitive(scorer: string): boolean {
  return /^hostSensitive: true/m.test(
    readFileSync(join(repository.path, "scorers", scorer, "scorer.yaml"), "utf8"),
  );
}

test("script-strong beats script-weak on every task's primary metric", () => {
  const { cells, tasks } = report(firstSeed);
  for (const { name: task, primary } of tasks) {
    const mean = (agent: string) =>
      cells.find((one: Line) => one.task === task && one.metric === primary && one.agent === agent);
    const [weak, strong] = [mean("script-weak"), mean("script-strong")];
    const better = strong.direction === "lower" ? weak.mean - strong.mean : strong.mean - weak.mean;
    assert.ok(better > 0, task);
  }
});

test("with two seeds, script-strong beats script-weak by more than two paired standard errors", () => {
  const { comparisons, cells, tasks } = report();
  for (const { name: task, primary } of tasks) {
    const of = (list: Line[]) => list.filter((one) => one.task === task && one.metric === primary);
    const [compared, ...rest] = of(comparisons);
    assert.equal(rest.length, 0, task);
    assert.equal(compared!.kind, "compared", `${task}: ${compared!.why}`);
    assert.equal(compared!.better, "script-strong", task);
    assert.equal(compared!.clear, true, task);
    assert.deepEqual(compared!.seeds, [1, 2], task);
    const error = Math.max(compared!.standardError, compared!.clusteredStandardError ?? 0);
    assert.ok(error > 0, task);
    assert.ok(Math.abs(compared!.difference) > 2 * error, `${task}: ${compared!.difference} ± ${error}`);
    const mean = (agent: string) => of(cells).find((cell) => cell.agent === agent)!;
    const [weak, strong] = [mean("script-weak"), mean("script-strong")];
    assert.ok(strong.direction === "lower" ? strong.mean < weak.mean : strong.mean > weak.mean, task);
  }
});

test("baby-lm's scripted agents learn more than token frequencies", () => {
  const { cells, rows } = report();
  const of = (list: Line[]) =>
    list.filter(({ task, metric }) => task === "baby-lm" && metric === "bits-per-byte");
  const unigram = of(rows).find(({ name }) => name === "unigram")!;
  const measured = of(cells);
  assert.deepEqual(measured.map(({ agent }) => agent).sort(), ["script-strong", "script-weak"]);
  for (const { agent, values, direction } of measured) {
    assert.equal(direction, "lower");
    for (const value of values)
      assert.ok(value > 0 && value < unigram.value, `${agent}: ${value} against ${unigram.value}`);
  }
});

test("report.json of a task with two seeds has the attempts and cells that programs rely on", () =>
  checkReport(report()));

/** Not the task of one-task.e2e.test.ts, which has this test too. */
const idle = process.env.MLRB_TEST_NOP_TASKS ?? drawn(tasks, 1).join(",");
console.log(`nop with MLRB_TEST_NOP_TASKS=${idle}`);

test("nop is rejected and has no score", { timeout: 20 * 60_000 }, async () => {
  const selection = ["--set", "agent=nop", "--set", "seed=1", "--set", `task=${idle}`];
  const alone = await pipeline("run", "full-benchmark", "--json", ...selection);
  assert.equal(alone.code, 0, alone.stdout + alone.stderr);
  checkNop(report(resultsOf(alone)));
});
