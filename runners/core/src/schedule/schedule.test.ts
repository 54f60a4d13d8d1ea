import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Outcome } from "../ports/outcome.ts";
import { step } from "./schedule.ts";
import {
  type Capacity,
  type Command,
  type Event,
  initialState,
  type ScheduleState,
  type Work,
} from "./schedule-state.ts";

const gib = 2 ** 30;
const succeeded: Outcome = { kind: "succeeded" };
const failed: Outcome = { kind: "failed", cause: "exit-code", detail: "status 1" };
const machine = { cpus: 2, memoryBytes: 8 * gib, gpus: 1, pools: { "api:a": 2, "api:b": 1 } };
/** A resource's name → how much of it a stage holds, or there is, none where nothing is said. */
type Held = Record<(typeof kinds)[number], number>;
const kinds = ["cpus", "memoryBytes", "gpus", "api:a", "api:b"] as const;

function held({ pools = {}, ...others }: Work["resources"]): Held {
  return { "api:a": 0, "api:b": 0, ...others, ...pools };
}

/** More than there is counts as all of it. */
function clamped(resources: Work["resources"]): Held {
  const [wanted, whole] = [held(resources), held(machine)];
  return Object.fromEntries(kinds.map((kind) => [kind, Math.min(wanted[kind], whole[kind])])) as Held;
}

function work(id: string, more: Partial<Work> = {}): Work {
  const resources = { cpus: 1, memoryBytes: 0, gpus: 0 };
  return { id, needs: [], collects: [], resources, expectedMs: 1000, lazy: false, ...more };
}

/** Steps through events by hand; `decide` commands are answered with run at once by default. */
function driver(
  works: Work[],
  options: { capacity?: Capacity; failFast?: boolean; decide?: (index: number) => Event } = {},
) {
  const { capacity = machine, failFast = false } = options;
  let state = initialState(works, { capacity, failFast });
  const log: string[] = [];
  const running = new Set<number>();
  const send = (event: Event) => {
    const queue = [event];
    for (let next = queue.shift(); next; next = queue.shift()) {
      const result = step(state, next);
      state = result.state;
      for (const command of result.commands) {
        if (command.kind === "decide") {
          const { index } = command;
          queue.push(options.decide?.(index) ?? { kind: "decided", index, decision: "run" });
          continue;
        }
        if (command.kind === "start") running.add(command.index);
        log.push(words(command, works));
      }
    }
  };
  const index = (id: string) => works.findIndex((one) => one.id === id);
  return {
    send,
    finish(id: string, outcome: Outcome = succeeded) {
      running.delete(index(id));
      send({ kind: "ended", index: index(id), outcome });
    },
    /** What was commanded since the last question. */
    said: () => log.splice(0),
    state: () => state,
  };
}

function words(command: Command, works: Work[]): string {
  if (command.kind === "finished") return "finished";
  const { id } = works[command.index]!;
  return command.kind === "settled" ? `${command.outcome.kind} ${id}` : `${command.kind} ${id}`;
}

test("a stage starts only after its needs have succeeded", () => {
  const run = driver([work("data"), work("attempt", { needs: [0] }), work("score", { needs: [0, 1] })]);
  run.send({ kind: "begin" });
  assert.deepEqual(run.said(), ["start data"]);
  run.finish("data");
  assert.deepEqual(run.said(), ["start attempt"]);
  run.finish("attempt");
  assert.deepEqual(run.said(), ["start score"]);
  run.finish("score");
  assert.deepEqual(run.said(), ["finished"]);
});

test("dependents of a failed stage are skipped, its collectors run, the rest continues", () => {
  const run = driver([
    work("data"),
    work("other"),
    work("score", { needs: [0] }),
    work("report", { collects: [1, 2] }),
  ]);
  run.send({ kind: "begin" });
  run.said();
  run.finish("data", failed);
  assert.deepEqual(run.said(), ["skipped score"]);
  run.finish("other");
  assert.deepEqual(run.said(), ["start report"]);
});

test("with fail-fast nothing starts after a failure, and running instances finish", () => {
  const run = driver([work("a"), work("b"), work("c"), work("d", { needs: [1] })], { failFast: true });
  run.send({ kind: "begin" });
  // b goes first: d waits for it
  assert.deepEqual(run.said(), ["start b", "start a"]);
  run.finish("a", failed);
  assert.deepEqual(run.said(), ["cancelled c"]);
  run.finish("b");
  assert.deepEqual(run.said(), ["cancelled d", "finished"]);
});

test("an interrupt asks running instances to end, a second one kills them, and nothing else starts", () => {
  const run = driver([work("a"), work("b"), work("c"), work("d", { needs: [0] })]);
  run.send({ kind: "begin" });
  run.said();
  run.send({ kind: "interrupt" });
  assert.deepEqual(run.said(), ["ask-to-end a", "ask-to-end b", "cancelled c"]);
  run.send({ kind: "interrupt" });
  assert.deepEqual(run.said(), ["kill a", "kill b"]);
  run.finish("a", succeeded);
  assert.deepEqual(run.said(), ["cancelled d"]);
  run.finish("b", { kind: "cancelled" });
  assert.deepEqual(run.said(), ["finished"]);
});

test("an environment is built if an instance that runs needs it, and not if all are reused", () => {
  const works = [work("environment", { lazy: true }), work("score", { environment: 0 })];
  const runs = driver(works);
  runs.send({ kind: "begin" });
  assert.deepEqual(runs.said(), ["start environment"]);
  runs.finish("environment");
  assert.deepEqual(runs.said(), ["start score"]);
  const reuses = driver(works, { decide: (index) => ({ kind: "decided", index, decision: "reuse" }) });
  reuses.send({ kind: "begin" });
  assert.deepEqual(reuses.said(), ["reused environment", "finished"]);
});

test("an instance whose environment failed is skipped and names the environment", () => {
  const run = driver([work("environment", { lazy: true }), work("score", { environment: 0 })]);
  run.send({ kind: "begin" });
  run.said();
  run.finish("environment", failed);
  assert.deepEqual(run.said(), ["skipped score", "finished"]);
  assert.deepEqual(run.state().outcome[1], { kind: "skipped", because: "environment" });
});

test("an equal action waits for the running one, and is decided again after its end", () => {
  const asked: number[] = [];
  const run = driver([work("first"), work("twin")], {
    decide(index) {
      asked.push(index);
      if (index === 0) return { kind: "decided", index, decision: "run" };
      return asked.filter((one) => one === 1).length === 1
        ? { kind: "decided", index, decision: "same", same: 0 }
        : { kind: "decided", index, decision: "reuse" };
    },
  });
  run.send({ kind: "begin" });
  assert.deepEqual(run.said(), ["start first"]);
  run.finish("first");
  assert.deepEqual(run.said(), ["finished"]);
  assert.deepEqual(asked, [0, 1, 1]);
});

test("a driver that keeps naming a skipped equal action does not cause an endless loop", () => {
  const run = driver(
    [work("environment", { lazy: true }), work("a", { environment: 0 }), work("b", { environment: 0 })],
    {
      decide: (index) =>
        index === 2
          ? { kind: "decided", index, decision: "same", same: 1 }
          : { kind: "decided", index, decision: "run" },
    },
  );
  run.send({ kind: "begin" });
  run.finish("environment", failed);
  assert.deepEqual(run.said(), ["start environment", "skipped a", "skipped b", "finished"]);
});

const gated = [
  work("score-reference"),
  work("check", { needs: [0] }),
  work("environment", { lazy: true }),
  work("attempt", { checks: [1], environment: 2 }),
];

test("an instance starts only after its check has succeeded", () => {
  const run = driver(gated);
  run.send({ kind: "begin" });
  assert.deepEqual(run.said(), ["start score-reference"]);
  run.finish("score-reference");
  assert.deepEqual(run.said(), ["start check"]);
  run.finish("check");
  assert.deepEqual(run.said(), ["start environment"]);
  run.finish("environment");
  assert.deepEqual(run.said(), ["start attempt"]);
});

test("an instance whose check failed is skipped and names the check, and its environment is not built", () => {
  const run = driver([...gated, work("other"), work("report", { collects: [3, 4] })]);
  run.send({ kind: "begin" });
  run.finish("other");
  run.finish("score-reference");
  run.said();
  run.finish("check", failed);
  assert.deepEqual(run.said(), ["skipped attempt", "start report"]);
  assert.deepEqual(run.state().outcome[3], { kind: "skipped", because: "check" });
  run.finish("report");
  assert.deepEqual(run.said(), ["reused environment", "finished"]);
});

test("an instance whose check cannot run is skipped too", () => {
  const run = driver(gated);
  run.send({ kind: "begin" });
  run.said();
  run.finish("score-reference", failed);
  assert.deepEqual(run.said(), ["skipped check", "skipped attempt", "reused environment", "finished"]);
});

test("a recorded attempt is reused, and a running one followed, whatever its check says", () => {
  for (const decision of ["reuse", "run"] as const) {
    const run = driver(gated, {
      decide: (index) => ({
        kind: "decided",
        index,
        decision: index === 3 ? decision : "run",
        begun: index === 3 && decision === "run",
      }),
    });
    run.send({ kind: "begin" });
    if (decision === "run") run.finish("environment");
    assert.equal(run.state().phase[3], decision === "run" ? "running" : "ended");
    if (decision === "run") run.finish("attempt");
    run.finish("score-reference");
    run.finish("check", failed);
    assert.equal(run.state().outcome[3]?.kind, decision === "run" ? "succeeded" : "reused");
  }
});

test("what a check needs starts before attempts of any place, and the check delays no other attempt", () => {
  const run = driver(
    [
      work("score-reference"),
      work("check", { needs: [0] }),
      work("checked", { checks: [1], start: 0, expectedMs: 9000 }),
      work("free", { start: 1, expectedMs: 9000 }),
    ],
    { capacity: { ...machine, cpus: 1 } },
  );
  run.send({ kind: "begin" });
  assert.deepEqual(run.said(), ["start score-reference"]);
  run.finish("score-reference");
  assert.deepEqual(run.said(), ["start check"]);
  run.finish("check", failed);
  assert.deepEqual(run.said(), ["skipped checked", "start free"]);
});

test("what a check and an attempt both need has not the attempt's place: all checks come before any attempt", () => {
  const run = driver(
    [
      work("models-a"),
      work("attempt-a", { needs: [0], start: 0, expectedMs: 9000 }),
      work("models-b"),
      work("reference-b", { needs: [2] }),
      work("check-b", { needs: [3] }),
      work("attempt-b", { needs: [2], checks: [4], start: 1, expectedMs: 9000 }),
    ],
    { capacity: { ...machine, cpus: 1 } },
  );
  run.send({ kind: "begin" });
  for (const name of ["models-b", "reference-b", "check-b", "models-a"]) {
    assert.deepEqual(run.said(), [`start ${name}`]);
    run.finish(name);
  }
  assert.deepEqual(run.said(), ["start attempt-a"]);
});

test("an interrupt cancels what waits for a check", () => {
  const run = driver(gated);
  run.send({ kind: "begin" });
  run.send({ kind: "interrupt" });
  run.finish("score-reference", { kind: "cancelled" });
  const { outcome } = run.state();
  assert.deepEqual(outcome[3], { kind: "cancelled" });
});

test("the longest remaining path starts first, and an environment counts its dependents", () => {
  const run = driver(
    [
      work("short", { expectedMs: 10 }),
      work("head", { expectedMs: 20 }),
      work("tail", { needs: [1], expectedMs: 5000 }),
      work("middle", { expectedMs: 100 }),
    ],
    { capacity: { ...machine, cpus: 1 } },
  );
  run.send({ kind: "begin" });
  for (const id of ["head", "tail", "middle", "short"]) {
    assert.deepEqual(run.said(), [`start ${id}`]);
    run.finish(id);
  }
  const long = [
    work("environment", { lazy: true, expectedMs: 1 }),
    work("train", { environment: 0, expectedMs: 9000 }),
    work("other", { expectedMs: 50 }),
  ];
  const priority = initialState(long, { capacity: machine, failFast: false }).priority;
  assert.deepEqual(priority, [9001, 9000, 50]);
  const gathered = [work("member"), work("report", { collects: [0], expectedMs: 70 })];
  assert.deepEqual(initialState(gathered, { capacity: machine, failFast: false }).priority, [1070, 70]);
});

test("a large stage is not starved by small ones that would fit", () => {
  const small = Array.from({ length: 20 }, (_, index) => work(`small-${index}`, { expectedMs: 10 }));
  const large = work("large", { expectedMs: 1000, resources: { cpus: 2, memoryBytes: 0, gpus: 0 } });
  const first = work("first", { expectedMs: 9000 });
  const run = driver([first, ...small, large]);
  run.send({ kind: "begin" });
  // the second CPU stays free for the large one, which is the most urgent
  assert.deepEqual(run.said(), ["start first"]);
  run.finish("first");
  assert.deepEqual(run.said(), ["start large"]);
});

test("a stage that wants more than the machine has runs alone", () => {
  const huge = { cpus: 64, memoryBytes: 640 * gib, gpus: 8 };
  const run = driver([work("huge", { resources: huge, expectedMs: 5 }), work("small", { expectedMs: 9 })]);
  run.send({ kind: "begin" });
  assert.deepEqual(run.said(), ["start small"]);
  run.finish("small");
  assert.deepEqual(run.said(), ["start huge"]);
});

test("no more instances run than their pool allows, and others run next to them", () => {
  const calls = { cpus: 0.1, memoryBytes: 0, gpus: 0, pools: { "api:a": 1 } };
  const works = ["a1", "a2", "a3"].map((id) => work(id, { resources: calls, expectedMs: 9000 }));
  const run = driver([
    ...works,
    work("other"),
    work("b", { resources: { ...calls, pools: { "api:b": 1 } } }),
  ]);
  run.send({ kind: "begin" });
  assert.deepEqual(run.said(), ["start a1", "start a2", "start other", "start b"]);
  run.finish("other");
  assert.deepEqual(run.said(), []);
  run.finish("a1");
  assert.deepEqual(run.said(), ["start a3"]);
});

test("a stage that takes all of a pool is not starved by those that take a part", () => {
  const calls = (amount: number) => ({ cpus: 0.1, memoryBytes: 0, gpus: 0, pools: { "api:a": amount } });
  const run = driver([
    work("first", { resources: calls(1), expectedMs: 9000 }),
    work("all", { resources: calls(2), expectedMs: 5000 }),
    ...["s1", "s2", "s3"].map((id) => work(id, { resources: calls(1), expectedMs: 10 })),
  ]);
  run.send({ kind: "begin" });
  assert.deepEqual(run.said(), ["start first"]);
  run.finish("first");
  assert.deepEqual(run.said(), ["start all"]);
  run.finish("all");
  assert.deepEqual(run.said(), ["start s1", "start s2"]);
});

test("without counted pools no instance waits for one", () => {
  const calls = { cpus: 0.1, memoryBytes: 0, gpus: 0, pools: { "api:a": 1 } };
  const { pools: _, ...bare } = machine;
  const works = ["a1", "a2", "a3"].map((id) => work(id, { resources: calls }));
  const run = driver(works, { capacity: bare });
  run.send({ kind: "begin" });
  assert.deepEqual(run.said(), ["start a1", "start a2", "start a3"]);
});

test("a stage's resources are free while its outputs are ingested, and are returned once", () => {
  const run = driver([work("a", { resources: { cpus: 2, memoryBytes: 0, gpus: 0 } }), work("b"), work("c")]);
  run.send({ kind: "begin" });
  assert.deepEqual(run.said(), ["start a"]);
  run.send({ kind: "freed", index: 0 });
  assert.deepEqual(run.said(), ["start b", "start c"]);
  run.finish("a");
  run.finish("b");
  assert.throws(() => run.send({ kind: "freed", index: 0 }), /bug: a gave back what it did not hold/);
  run.finish("c");
  assert.deepEqual(run.said(), ["finished"]);
  assert.deepEqual(run.state().free.slice(0, 1), [2000]);
});

test("an instance whose input is gone waits until it is made again, and so do later readers", () => {
  const run = driver([
    work("data"),
    work("slow"),
    work("score", { needs: [0], expectedMs: 9000 }),
    work("late", { needs: [0, 1] }),
    work("report", { collects: [2, 3] }),
  ]);
  run.send({ kind: "begin" });
  run.finish("data");
  assert.deepEqual(run.said(), ["start data", "start slow", "start score"]);
  run.send({ kind: "lost", index: 2, producers: [0] });
  assert.deepEqual(run.said(), ["start data"]);
  run.finish("slow");
  assert.deepEqual(run.said(), [], "late needs data, which is being made again");
  run.finish("data");
  assert.deepEqual(run.said(), ["start score", "start late"]);
  run.finish("score");
  run.finish("late");
  assert.deepEqual(run.said(), ["start report"]);
});

test("an input that cannot be made again fails the instance that lost it, and no ended one", () => {
  const run = driver([work("data"), work("done", { needs: [0] }), work("score", { needs: [0] })]);
  run.send({ kind: "begin" });
  run.finish("data");
  run.finish("done");
  run.said();
  run.send({ kind: "lost", index: 2, producers: [0] });
  run.finish("data", failed);
  assert.deepEqual(run.said(), ["start data", "skipped score", "finished"]);
});

test("fractions of a CPU come back whole", () => {
  // 2 - 0.2 - 0.3 - 0.3 - 0.6 - 0.2 and all of it back is 1.9999999999999998 in floating point
  const parts = [0.2, 0.3, 0.3, 0.6, 0.2].map((cpus, index) =>
    work(`part-${index}`, { resources: { cpus, memoryBytes: 0, gpus: 0 }, expectedMs: 9000 - index }),
  );
  const whole = work("whole", { expectedMs: 1, resources: { cpus: 2, memoryBytes: 0, gpus: 0 } });
  const run = driver([...parts, whole]);
  run.send({ kind: "begin" });
  assert.deepEqual(
    run.said(),
    parts.map(({ id }) => `start ${id}`),
  );
  for (const { id } of parts) run.finish(id);
  assert.deepEqual(run.said(), ["start whole"]);
});

test("bookkeeping that would start a stage twice or end it unstarted is a bug that throws", () => {
  const run = driver([work("a")]);
  run.send({ kind: "begin" });
  assert.throws(() => run.send({ kind: "decided", index: 0, decision: "run" }), /bug: a was decided unasked/);
  run.finish("a");
  assert.throws(
    () => run.send({ kind: "ended", index: 0, outcome: succeeded }),
    /bug: a ended without running/,
  );
  assert.throws(
    () => initialState([work("a", { needs: [0] })], { capacity: machine, failFast: false }),
    /^Error: bug: a/,
  );
});

// ——— any graph, any order of answers ———

const cpus = fc.constantFrom(0.1, 1 / 3, 0.7, 1, 1, 2, 3, 64);
const resources = fc.record({
  cpus,
  memoryBytes: fc.constantFrom(0, gib, 3 * gib, 99 * gib),
  gpus: fc.constantFrom(0, 0, 1, 2),
  pools: fc.record(
    { "api:a": fc.constantFrom(0, 1, 2, 5), "api:b": fc.constantFrom(1, 2), "api:uncounted": fc.constant(3) },
    { requiredKeys: [] },
  ),
});

/** Works whose needs, collections, checks and environment come before them; every fifth or so is an environment. */
const graphs = fc
  .array(
    fc.record({
      resources,
      lazy: fc.integer({ min: 0, max: 4 }).map((one) => one === 0),
      expectedMs: fc.integer({ min: 0, max: 5 }),
      picks: fc.array(fc.tuple(fc.nat(), fc.constantFrom("needs", "collects", "checks", "environment")), {
        maxLength: 4,
      }),
    }),
    { maxLength: 25 },
  )
  .map((nodes) => {
    const works: Work[] = [];
    for (const [index, { picks, ...node }] of nodes.entries()) {
      const made = work(`w${index}`, { ...node, needs: [], collects: [] });
      for (const [pick, role] of node.lazy ? [] : picks) {
        if (index === 0) break;
        const other = pick % index;
        if (works[other]!.lazy) made.environment = other;
        else if (role === "needs") made.needs.push(other);
        else if (role === "checks") made.checks = [...(made.checks ?? []), other];
        else made.collects.push(other);
      }
      works.push(made);
    }
    return works;
  });

type Drive = { works: Work[]; chance: number[]; failFast: boolean; interrupts: boolean };

/** Answers commands in an order and with outcomes that `chance` decides, and checks every promise on the way. */
function drive({ works, chance, failFast, interrupts }: Drive): ScheduleState {
  let at = 0;
  const random = (below: number) => (chance.length === 0 ? 0 : chance[at++ % chance.length]! % below);
  let state = initialState(works, { capacity: machine, failFast });
  const pending: { kind: "decide" | "start"; index: number }[] = [];
  const outcome = new Map<number, Outcome>();
  const started = new Set<number>();
  const asked = new Set<number>();
  const running = new Set<number>();
  const freed = new Set<number>();
  /** Succeeded once; a check counts also while its lost output is made again. */
  const proven = new Set<number>();
  /** Asked again, or about to be. */
  const remade = new Set<number>();
  const free = held(machine);
  let [interrupted, failures, finished] = [0, 0, 0];
  const wanted = (index: number) => clamped(works[index]!.resources);
  const good = (index: number) => ["succeeded", "reused"].includes(outcome.get(index)?.kind ?? "");
  const settle = (index: number, result: Outcome) => {
    assert(!outcome.has(index), "nothing ends twice");
    outcome.set(index, result);
    if (good(index)) proven.add(index);
  };
  const obey = (command: Command) => {
    if (command.kind === "finished") {
      finished++;
      return;
    }
    const { index } = command;
    const { needs, collects, checks = [], environment, lazy } = works[index]!;
    // biome-ignore lint/nursery/useExhaustiveSwitchCases: it does not see that `finished` has returned above
    switch (command.kind) {
      case "decide":
        assert(!outcome.has(index));
        assert(needs.every(good) && collects.every((one) => outcome.has(one)), "nothing is asked too early");
        assert(interrupted === 0 && !(failFast && failures > 0), "nothing new after the end was decided");
        return void pending.push(command);
      case "start":
        assert(!started.has(index) && !outcome.has(index), "nothing starts twice");
        assert(environment === undefined || good(environment), "its environment is there");
        assert(
          checks.every((one) => proven.has(one)),
          "its checks have succeeded",
        );
        assert(interrupted === 0 && !(failFast && failures > 0), "nothing starts after the end was decided");
        started.add(index);
        running.add(index);
        for (const kind of kinds) {
          free[kind] -= wanted(index)[kind];
          assert(free[kind] > -1e-9, `${kind} is never over-booked`);
        }
        return void pending.push(command);
      case "ask-to-end":
      case "kill":
        assert(running.has(index) && interrupted === (command.kind === "kill" ? 2 : 1));
        return;
      case "settled": {
        const { kind } = command.outcome;
        const before = [...needs, ...checks, ...(environment === undefined ? [] : [environment])];
        const lost = before.some((one) => !good(one));
        if (kind === "skipped") assert(lost, "skipped only when something it needs did not succeed");
        if (kind === "cancelled")
          assert(interrupted > 0 || (failFast && failures > 0), "cancelled for a reason");
        if (kind === "reused") assert(lazy, "only an unneeded environment counts as reused");
        return settle(index, command.outcome);
      }
    }
  };
  const send = (event: Event) => {
    const result = step(state, event);
    state = result.state;
    result.commands.forEach(obey);
  };
  send({ kind: "begin" });
  for (let turns = 0; finished === 0; turns++) {
    assert(turns < 40 * works.length + 40, "every run ends");
    if (interrupts && interrupted < 2 && random(12) === 0) {
      interrupted++;
      send({ kind: "interrupt" });
      continue;
    }
    assert(pending.length > 0, "there is always something under way until the run has finished");
    const [{ kind, index }] = pending.splice(random(pending.length), 1) as [(typeof pending)[number]];
    if (kind === "start" && random(5) === 0 && !freed.has(index)) {
      freed.add(index);
      for (const what of kinds) free[what] += wanted(index)[what];
      pending.push({ kind, index });
      send({ kind: "freed", index });
      continue;
    }
    if (kind === "start" && random(6) === 0 && !remade.has(index)) {
      const { needs, collects } = works[index]!;
      const producers = [...needs, ...collects].filter((one) => outcome.has(one) && random(2) === 0);
      const stops = interrupted > 0 || (failFast && failures > 0);
      remade.add(index); // once each: what is lost again and again is given up by the run
      running.delete(index);
      if (!freed.delete(index)) for (const what of kinds) free[what] += wanted(index)[what];
      if (!stops) {
        started.delete(index);
        for (const one of producers) {
          remade.add(one);
          outcome.delete(one);
          started.delete(one);
        }
      }
      send({ kind: "lost", index, producers });
      continue;
    }
    if (kind === "start") {
      const result: Outcome =
        interrupted > 0 && random(2) === 0 ? { kind: "cancelled" } : random(4) === 0 ? failed : succeeded;
      running.delete(index);
      if (!freed.delete(index)) for (const what of kinds) free[what] += wanted(index)[what];
      if (result.kind === "failed") failures++;
      settle(index, result);
      send({ kind: "ended", index, outcome: result });
      continue;
    }
    // one that runs, or did while this was being decided; what ended well is found on the next look
    const others = [...started].filter((one) => one !== index && !(asked.has(index) && good(one)));
    const same = others[random(Math.max(1, others.length))];
    asked.add(index);
    switch (random(6)) {
      case 0:
        settle(index, { kind: "reused" });
        send({ kind: "decided", index, decision: "reuse" });
        break;
      case 1:
        settle(index, failed);
        failures++;
        send({ kind: "decided", index, decision: "failed", outcome: failed });
        break;
      case 2:
        if (same !== undefined && !remade.has(index)) {
          send({ kind: "decided", index, decision: "same", same });
          break;
        }
        send({ kind: "decided", index, decision: "run" });
        break;
      default:
        send({ kind: "decided", index, decision: "run" });
    }
  }
  assert.equal(finished, 1);
  assert.deepEqual(state.free, [2000, 8 * gib, 1, 2, 1], "all is given back, exactly");
  assert.equal(outcome.size, works.length, "everything has ended, once");
  assert.deepEqual(step(state, { kind: "interrupt" }).commands, [], "a finished run says nothing more");
  return state;
}

test("in any graph and order of events nothing starts early, twice or over capacity, and every run ends", () => {
  fc.assert(
    fc.property(
      graphs,
      fc.array(fc.nat({ max: 1000 }), { maxLength: 60 }),
      fc.boolean(),
      fc.boolean(),
      (works, chance, failFast, interrupts) => void drive({ works, chance, failFast, interrupts }),
    ),
    { numRuns: 1500 },
  );
});

test("of the instances that fit the most urgent starts, and none that fits waits", () => {
  const lanes = fc.array(fc.record({ resources, expectedMs: fc.integer({ min: 0, max: 9 }) }), {
    minLength: 1,
    maxLength: 20,
  });
  fc.assert(
    fc.property(lanes, (nodes) => {
      const works = nodes.map((node, index) => work(`w${index}`, node));
      const run = driver(works);
      run.send({ kind: "begin" });
      const order = works
        .map((_, index) => index)
        .sort((a, b) => works[b]!.expectedMs - works[a]!.expectedMs || a - b);
      const wishes = works.map(({ resources: wish }) => clamped(wish));
      const clamp = (index: number, kind: keyof Held) => wishes[index]![kind];
      const decided = new Set<number>();
      const waiting = new Set(order);
      const running: number[] = [];
      /** The rule, said plainly: in order of urgency, keep back what the first that do not fit lack. */
      const expected = () => {
        const left = held(machine);
        for (const index of running) for (const kind of kinds) left[kind] -= clamp(index, kind);
        const starts: string[] = [];
        for (const index of order) {
          if (!waiting.has(index) || left.cpus < 1e-9) continue;
          const lacking = kinds.filter((kind) => clamp(index, kind) > left[kind] + 1e-9);
          for (const kind of lacking) left[kind] = 0;
          if (lacking.length > 0) continue;
          for (const kind of kinds) left[kind] -= clamp(index, kind);
          if (!decided.has(index)) continue;
          waiting.delete(index);
          running.push(index);
          starts.push(`start w${index}`);
        }
        return starts;
      };
      const first = order.flatMap((index) => {
        decided.add(index);
        return expected();
      });
      assert.deepEqual(run.said(), first);
      while (running.length > 0) {
        const done = running.shift();
        const next = expected();
        run.finish(`w${done}`);
        assert.deepEqual(run.said(), waiting.size + running.length > 0 ? next : ["finished"]);
      }
      assert.equal(waiting.size, 0);
    }),
    { numRuns: 300 },
  );
});

// ——— size; `pnpm bench --huge` measures the speed ———

/** Runs everything to its end, first come first served. Returns the number of starts. */
function startsOf(works: Work[]): number {
  let state = initialState(works, { capacity: machine, failFast: false });
  const events: Event[] = [{ kind: "begin" }];
  let starts = 0;
  for (let at = 0; at < events.length; at++) {
    const result = step(state, events[at]!);
    state = result.state;
    for (const command of result.commands) {
      if (command.kind === "decide") events.push({ kind: "decided", index: command.index, decision: "run" });
      if (command.kind === "start") {
        starts++;
        events.push({ kind: "ended", index: command.index, outcome: succeeded });
      }
    }
  }
  assert(state.finished);
  return starts;
}

test("a hundred thousand instances of any shape are each started once", () => {
  const many = 100_000;
  const mixed = (index: number) => ({
    cpus: 1 + (index % 2),
    memoryBytes: (index % 3) * 4 * gib,
    gpus: index % 2,
  });
  const shapes: Record<string, Work[]> = {
    independent: Array.from({ length: many }, (_, index) =>
      work(`w${index}`, { expectedMs: (index * 7919) % 1000 }),
    ),
    "of many wishes": Array.from({ length: many }, (_, index) =>
      work(`w${index}`, { resources: mixed(index), expectedMs: (index * 7919) % 1000 }),
    ),
    "of two pools": Array.from({ length: many }, (_, index) =>
      work(`w${index}`, {
        resources: { cpus: 0.1, memoryBytes: 0, gpus: 0, pools: { [index % 3 ? "api:a" : "api:b"]: 1 } },
        expectedMs: (index * 7919) % 1000,
      }),
    ),
    "one long chain": Array.from({ length: many }, (_, index) =>
      work(`w${index}`, { needs: index > 0 ? [index - 1] : [] }),
    ),
    "the benchmark": benchmarkShape(many / 10),
  };
  for (const [shape, works] of Object.entries(shapes)) {
    assert.equal(startsOf(works), works.length, shape);
  }
});

test("a hundred thousand skips follow one failure without exhausting the stack", () => {
  const works = Array.from({ length: 100_000 }, (_, index) =>
    work(`w${index}`, { needs: index > 0 ? [index - 1] : [] }),
  );
  const run = driver(works);
  run.send({ kind: "begin" });
  run.finish("w0", failed);
  assert.equal(run.said().length, 1 + 99_999 + 1);
});

/** data → attempt → validate, six scores, and one report that collects them all. */
function benchmarkShape(attempts: number): Work[] {
  const works: Work[] = [work("environment", { lazy: true, expectedMs: 60_000 })];
  const add = (one: Work) => works.push(one) - 1;
  const ends: number[] = [];
  for (let attempt = 0; attempt < attempts; attempt++) {
    const data = add(work(`data-${attempt}`));
    const tried = add(work(`attempt-${attempt}`, { needs: [data], environment: 0, expectedMs: 20_000 }));
    const verdict = add(work(`validate-${attempt}`, { needs: [data, tried] }));
    const memory = { cpus: 1, memoryBytes: 4 * gib, gpus: 0 };
    for (let score = 0; score < 6; score++)
      ends.push(
        add(
          work(`score-${attempt}-${score}`, {
            needs: [tried, verdict, data],
            environment: 0,
            resources: memory,
          }),
        ),
      );
  }
  add(work("report", { collects: ends }));
  return works;
}

test("instances start by their places, after what they need, and are judged before the next place", () => {
  const works = [
    work("reference model"),
    work("data-a"),
    work("data-b"),
    work("a", { needs: [1], start: 1, expectedMs: 1e9 }),
    work("b", { needs: [2], start: 0 }),
    work("judge-a", { needs: [3] }),
    work("judge-b", { needs: [4] }),
    work("report", { collects: [0, 5, 6] }),
  ];
  const run = driver(works, { capacity: { ...machine, cpus: 1 } });
  run.send({ kind: "begin" });
  for (const id of ["reference model", "data-b", "b", "judge-b", "data-a", "a", "judge-a", "report"]) {
    assert.deepEqual(run.said(), [`start ${id}`]);
    run.finish(id);
  }
});

test("what no place concerns takes the place of its needs, after what the place needs", () => {
  const works = [
    work("data-a"),
    work("data-b"),
    work("attempt-b", { needs: [1], start: 1, expectedMs: 9000 }),
    work("reference-b", { needs: [1] }),
    work("attempt-a", { needs: [0], start: 0, expectedMs: 9000 }),
    work("reference-a", { needs: [0] }),
  ];
  const run = driver(works, { capacity: { ...machine, cpus: 1 } });
  run.send({ kind: "begin" });
  for (const id of ["data-a", "attempt-a", "reference-a", "data-b", "attempt-b", "reference-b"]) {
    assert.deepEqual(run.said(), [`start ${id}`]);
    run.finish(id);
  }
});

test("on one GPU each attempt is scored before the next one starts, and what no attempt concerns comes first", () => {
  const gpu = { cpus: 1, memoryBytes: 0, gpus: 1 };
  const works = [
    work("data"),
    work("references", { needs: [0], resources: gpu }),
    ...[0, 1, 2].map((start) =>
      work(`attempt-${start}`, { needs: [0], start, resources: gpu, expectedMs: 1e8 }),
    ),
    ...[0, 1, 2].map((at) => work(`score-${at}`, { needs: [2 + at], resources: gpu })),
    work("other"),
  ];
  const run = driver(works, { capacity: { ...machine, cpus: 1 } });
  run.send({ kind: "begin" });
  const order: string[] = [];
  for (let said = run.said(); said.length > 0 && said[0] !== "finished"; said = run.said()) {
    const id = said[0]!.replace("start ", "");
    order.push(id);
    run.finish(id);
  }
  const attempts = order.filter((id) => /attempt|score/.test(id));
  assert.deepEqual(attempts, ["attempt-0", "score-0", "attempt-1", "score-1", "attempt-2", "score-2"]);
  assert.ok(order.indexOf("other") < order.indexOf("attempt-0"), order.join());
});
