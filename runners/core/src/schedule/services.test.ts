import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Outcome } from "../ports/outcome.ts";
import type { Resources } from "./amounts.ts";
import { step } from "./schedule.ts";
import { type Command, type Event, initialState, type Work } from "./schedule-state.ts";

const succeeded: Outcome = { kind: "succeeded" };
const failed: Outcome = { kind: "failed", cause: "exit-code", detail: "status 1" };
const machine: Resources = { cpus: 4, memoryBytes: 8, gpus: 2 };

function work(id: string, more: Partial<Work> = {}): Work {
  const resources = { cpus: 1, memoryBytes: 0, gpus: 0 };
  return { id, needs: [], collects: [], resources, expectedMs: 1000, lazy: false, ...more };
}

const service = (id: string, more: Partial<Work> = {}) => work(id, { lazy: true, ...more });
const gpu = (gpus: number): Pick<Work, "resources"> => ({ resources: { cpus: 1, memoryBytes: 0, gpus } });

/** Steps by hand; `reused` instances are not run. */
function driver(
  works: Work[],
  { capacity = machine, reused = [] as string[], begun = [] as string[], failFast = false } = {},
) {
  let state = initialState(works, { capacity, failFast });
  const log: string[] = [];
  const index = (id: string) => works.findIndex((one) => one.id === id);
  const send = (event: Event) => {
    const queue = [event];
    for (let next = queue.shift(); next; next = queue.shift()) {
      const result = step(state, next);
      state = result.state;
      for (const command of result.commands) {
        if (command.kind === "decide") {
          const { id } = works[command.index]!;
          if (reused.includes(id)) queue.push({ kind: "decided", index: command.index, decision: "reuse" });
          else
            queue.push({ kind: "decided", index: command.index, decision: "run", begun: begun.includes(id) });
        } else log.push(words(command, works));
      }
    }
  };
  send({ kind: "begin" });
  return {
    lose: (id: string) => send({ kind: "lost", index: index(id), producers: [] }),
    serve: (id: string) => send({ kind: "serving", index: index(id) }),
    away: (id: string) => send({ kind: "away", index: index(id) }),
    finish: (id: string, outcome = succeeded) => send({ kind: "ended", index: index(id), outcome }),
    interrupt: () => send({ kind: "interrupt" }),
    said: () => log.splice(0).join(", "),
    outcomeOf: (id: string) => state.outcome[index(id)],
  };
}

function words(command: Command, works: Work[]): string {
  if (command.kind === "finished") return "finished";
  const { id } = works[command.index]!;
  return command.kind === "settled" ? `${command.outcome.kind} ${id}` : `${command.kind} ${id}`;
}

test("nothing new takes what a user that a dead run began and its service need", () => {
  const works = [
    service("model", gpu(1)),
    work("goes-on", { uses: 0, ...gpu(1) }),
    work("long", gpu(1)),
    work("new", gpu(1)),
  ];
  const run = driver(works, { begun: ["goes-on"] });
  assert.equal(run.said(), "start model");
  run.serve("model");
  assert.equal(run.said(), "start goes-on");
  run.finish("goes-on");
  assert.equal(run.said(), "start long, stop model");
  run.finish("model");
  assert.equal(run.said(), "start new");
});

test("users of a service that answers go on while such a user waits for a service that does not fit next to it", () => {
  const works = [
    service("one", gpu(1)),
    service("two", gpu(2)),
    work("a", { uses: 0, ...gpu(1) }),
    work("b", { uses: 0, ...gpu(1) }),
    work("first"),
    work("goes-on", { needs: [4], uses: 1 }),
  ];
  const run = driver(works, { begun: ["goes-on"] });
  run.serve("one");
  run.finish("first");
  run.finish("a");
  assert.equal(run.said(), "start first, start one, start a, start b");
  run.finish("b");
  run.finish("one");
  assert.equal(run.said(), "stop one, start two");
});

test("a service that is stopped while its inputs are found missing can be stopped again", () => {
  const run = driver([service("model"), work("a", { uses: 0 })]);
  run.serve("model");
  run.finish("a");
  assert.equal(run.said(), "start model, start a, stop model");
  run.lose("model");
  assert.equal(run.said(), "start model, stop model");
  run.finish("model");
  assert.equal(run.said(), "finished");
});

test("what the service of such a user needs first may start", () => {
  const model = service("model", { needs: [0], ...gpu(1) });
  const works = [work("weights", gpu(1)), model, work("goes-on", { uses: 1, ...gpu(1) })];
  const run = driver(works, { begun: ["goes-on"] });
  assert.equal(run.said(), "start weights");
  run.finish("weights");
  assert.equal(run.said(), "start model");
});

test("users of a service whose inputs were lost wait until it serves again", () => {
  const run = driver([service("model"), work("a", { uses: 0 }), work("b", { needs: [1], uses: 0 })]);
  run.serve("model");
  assert.equal(run.said(), "start model, start a");
  run.lose("model");
  run.finish("a");
  assert.equal(run.said(), "start model");
  run.serve("model");
  assert.equal(run.said(), "start b");
});

test("a service starts once before its first user, serves all users, and is stopped after the last", () => {
  const run = driver([service("model"), work("a", { uses: 0 }), work("b", { uses: 0 })]);
  assert.equal(run.said(), "start model");
  run.serve("model");
  assert.equal(run.said(), "start a, start b");
  run.finish("a");
  assert.equal(run.said(), "");
  run.finish("b");
  assert.equal(run.said(), "stop model");
  run.finish("model");
  assert.equal(run.said(), "finished");
});

test("while a service is started again its running users go on, and the others wait until it serves", () => {
  const works = [
    service("model"),
    ...["a", "b", "c", "d"].map((id) =>
      work(id, { uses: 0, resources: { cpus: 3, memoryBytes: 0, gpus: 0 } }),
    ),
  ];
  const run = driver(works);
  run.serve("model");
  assert.equal(run.said(), "start model, start a");
  run.away("model");
  run.finish("a");
  assert.equal(run.said(), "");
  run.serve("model");
  assert.equal(run.said(), "start b");
  run.away("model");
  run.finish("b");
  run.finish("model", failed);
  assert.equal(run.said(), "skipped c, skipped d, finished");
});

test("a service does not start if all its users are reused", () => {
  const run = driver([service("model"), work("a", { uses: 0 })], { reused: ["a"] });
  assert.equal(run.said(), "reused model, finished");
});

test("users of a service that failed are skipped and name it", () => {
  const run = driver([service("model"), work("a", { uses: 0 }), work("other")]);
  assert.equal(run.said(), "start other, start model");
  run.finish("model", failed);
  assert.equal(run.said(), "skipped a");
  assert.deepEqual(run.outcomeOf("a"), { kind: "skipped", because: "model" });
});

test("a service that fails while it is used leaves its running user alone, and skips those that wait", () => {
  const capacity = { ...machine, cpus: 2 };
  const run = driver([service("model"), work("a", { uses: 0 }), work("b", { uses: 0 })], { capacity });
  run.serve("model");
  assert.equal(run.said(), "start model, start a");
  run.finish("model", failed);
  assert.equal(run.said(), "skipped b");
  run.finish("a");
  assert.equal(run.said(), "finished");
});

test("a stage that needs the GPU of an idle service ends it, and the next user starts it again", () => {
  const capacity = { ...machine, gpus: 1 };
  const works = [
    service("model", gpu(1)),
    work("a", { uses: 0 }),
    work("train", { needs: [1], ...gpu(1) }),
    work("b", { needs: [2], uses: 0 }),
  ];
  const run = driver(works, { capacity });
  run.serve("model");
  run.finish("a");
  assert.equal(run.said(), "start model, start a, stop model");
  run.finish("model");
  assert.equal(run.said(), "start train");
  run.finish("train");
  assert.equal(run.said(), "start model");
  run.serve("model");
  run.finish("b");
  assert.equal(run.said(), "start b, stop model");
});

test("an idle service stays for its next user while nothing needs its place", () => {
  const works = [
    service("model", gpu(1)),
    work("a", { uses: 0 }),
    work("train", { needs: [1], ...gpu(1) }),
    work("b", { needs: [2], uses: 0 }),
  ];
  const run = driver(works);
  run.serve("model");
  run.finish("a");
  run.finish("train");
  assert.equal(run.said(), "start model, start a, start train, start b");
});

test("a stage that cannot start next to a service does not keep back the users of the service", () => {
  const works = [
    service("model", gpu(1)),
    work("first"),
    work("large", { needs: [1], ...gpu(2), expectedMs: 9000 }),
    work("a", { uses: 0, ...gpu(1) }),
    work("b", { uses: 0, ...gpu(1) }),
  ];
  const run = driver(works);
  run.finish("first");
  assert.equal(run.said(), "start first, start model", "large is the more urgent one");
  run.serve("model");
  assert.equal(run.said(), "start a");
  run.finish("a");
  assert.equal(run.said(), "start b");
  run.finish("b");
  run.finish("model");
  assert.equal(run.said(), "stop model, start large");
});

test("two services that do not fit next to each other's users run one after the other", () => {
  const works = [
    service("one", gpu(1)),
    service("two", gpu(1)),
    work("a", { uses: 0, ...gpu(1) }),
    work("b", { uses: 1, ...gpu(1) }),
  ];
  const run = driver(works);
  assert.equal(run.said(), "start one");
  run.serve("one");
  assert.equal(run.said(), "start a");
  run.finish("a");
  assert.equal(run.said(), "stop one");
  run.finish("one");
  assert.equal(run.said(), "start two");
});

test("a user that wants all CPUs runs next to its service", () => {
  const all = { resources: { cpus: 64, memoryBytes: 99, gpus: 0 } };
  const run = driver([service("model", all), work("a", { uses: 0, ...all })]);
  run.serve("model");
  assert.equal(run.said(), "start model, start a");
});

test("an interrupt also asks the service to end, and cancels what waits for it", () => {
  const run = driver([service("model"), work("a", { uses: 0 })]);
  run.interrupt();
  assert.equal(run.said(), "start model, ask-to-end model");
  run.finish("model", { kind: "cancelled" });
  assert.equal(run.said(), "cancelled a, finished");
});

test("after a failure with fail-fast a service without users ends", () => {
  const capacity = { ...machine, cpus: 2 };
  const works = [service("model"), work("a", { uses: 0 }), work("b", { uses: 0, needs: [1] })];
  const run = driver(works, { capacity, failFast: true });
  run.serve("model");
  run.finish("a", failed);
  assert.equal(run.said(), "start model, start a, skipped b, stop model");
});

// ——— any graph with services, any order of answers ———

const graphs = fc
  .array(
    fc.record({
      resources: fc.record({
        cpus: fc.constantFrom(0.5, 1, 3, 64),
        memoryBytes: fc.constantFrom(0, 3, 7, 99),
        gpus: fc.constantFrom(0, 1, 2),
      }),
      lazy: fc.integer({ min: 0, max: 2 }).map((one) => one === 0),
      expectedMs: fc.nat(9),
      picks: fc.array(fc.nat(), { maxLength: 3 }),
    }),
    { maxLength: 16 },
  )
  .map((nodes) => {
    const works: Work[] = [];
    for (const [index, { picks, lazy, ...node }] of nodes.entries()) {
      const made = work(`w${index}`, { ...node, lazy });
      for (const pick of index === 0 ? [] : picks) {
        const other = pick % index;
        if (!works[other]!.lazy) made.needs.push(other);
        else if (!lazy) made.uses = other;
      }
      works.push(made);
    }
    // what a service needs ends before its users are decided
    for (const made of works) if (made.uses !== undefined) made.needs.push(...works[made.uses]!.needs);
    return works;
  });

test("any run with services ends, over-books nothing, and starts users only while their service answers", () => {
  fc.assert(fc.property(graphs, fc.array(fc.nat(), { minLength: 1, maxLength: 40 }), fc.boolean(), drive), {
    numRuns: 300,
  });
});

function drive(works: Work[], chance: number[], failFast: boolean): void {
  let [turn, losses, finished, restarts] = [0, 0, false, 5];
  const random = (below: number) => chance[turn++ % chance.length]! % below;
  let state = initialState(works, { capacity: machine, failFast });
  const pending: Event[] = [];
  const serving = new Set<number>();
  const isService = new Set(works.flatMap(({ uses }) => uses ?? []));
  const obey = (command: Command) => {
    if (command.kind === "finished") finished = true;
    else if (command.kind === "decide")
      pending.push({
        kind: "decided",
        index: command.index,
        ...(random(6) === 0 && !isService.has(command.index)
          ? { decision: "reuse" }
          : { decision: "run", begun: !isService.has(command.index) && random(3) === 0 }),
      });
    else if (command.kind === "start") start(command.index);
    else if (command.kind === "stop") {
      assert(state.running.has(command.index));
      pending.push({ kind: "ended", index: command.index, outcome: succeeded });
    } else assert.equal(command.kind, "settled");
  };
  const start = (index: number) => {
    const { uses } = works[index]!;
    assert(uses === undefined || serving.has(uses), "its service answers");
    assert(
      state.free.every((amount) => amount >= 0),
      "nothing is over-booked",
    );
    const outcome = random(9) === 0 ? failed : succeeded;
    const producers = works[index]!.needs.filter((one) => !isService.has(one));
    if (random(12) === 0 && losses++ < works.length) pending.push({ kind: "lost", index, producers });
    else if (!isService.has(index)) pending.push({ kind: "ended", index, outcome });
    else if (outcome === succeeded) pending.push({ kind: "serving", index });
    else pending.push({ kind: "ended", index, outcome });
  };
  const send = (event: Event) => {
    if (["serving", "away", "ended", "lost"].includes(event.kind) && "index" in event) {
      if (!state.running.has(event.index)) return; // a service that was stopped before its first answer
      if (event.kind === "serving") serving.add(event.index);
      else serving.delete(event.index);
      if (event.kind === "serving" && restarts-- > 0) pending.push({ ...event, kind: "away" });
      if (event.kind === "away") pending.push({ ...event, kind: "serving" });
    }
    const result = step(state, event);
    state = result.state;
    result.commands.forEach(obey);
  };
  send({ kind: "begin" });
  for (let turns = 0; !finished; turns++) {
    assert(turns < 60 * works.length + 60, "every run ends");
    assert(pending.length > 0, "something is always under way");
    send(pending.splice(random(pending.length), 1)[0]!);
  }
  assert.equal(state.running.size, 0);
  assert.deepEqual(state.free, [...state.whole]);
}
