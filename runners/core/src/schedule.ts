// Decides what may start when. Deterministic, and free of disk, process, clock and chance: the run
// feeds it events and carries out its commands, and tests drive it through any order of events.
// `step` works on the state it is given and returns it, since copying a hundred thousand entries an
// event would cost more than the work: hold on to the returned state only.
import type { Outcome } from "./outcome.ts";
import { type Amounts, ReadyQueue } from "./ready-queue.ts";

export type Work = {
  id: string;
  /** Must have succeeded or been reused first. */
  needs: number[];
  /** Must have ended first, however. */
  collects: number[];
  /** Must be there before it runs, but need not be for it to be reused. */
  environment?: number;
  resources: { cpus: number; memoryBytes: number; gpus: number };
  /** Expected duration in ms, for the longest-path order. */
  expectedMs: number;
  /** Built only when something that runs asks for it. */
  lazy: boolean;
};

export type Capacity = { cpus: number; memoryBytes: number; gpus: number };

export type Event =
  | { kind: "begin" }
  /** `same` is an instance that runs the same action right now: wait for its result. */
  | { kind: "decided"; index: number; decision: "run" | "reuse" }
  | { kind: "decided"; index: number; decision: "same"; same: number }
  /** It could not even be bound, e.g. its script does not parse. */
  | { kind: "decided"; index: number; decision: "failed"; outcome: Outcome }
  | { kind: "ended"; index: number; outcome: Outcome }
  /** Ctrl-C: the first ends the run in order, the second at once. */
  | { kind: "interrupt" };

export type Command =
  /** Its inputs are there: bind them, and say whether it runs. */
  | { kind: "decide"; index: number }
  | { kind: "start"; index: number }
  | { kind: "ask-to-end"; index: number }
  | { kind: "kill"; index: number }
  /** The outcome was decided here, without running anything. */
  | { kind: "settled"; index: number; outcome: Outcome }
  | { kind: "finished" };

type Phase = "waiting" | "deciding" | "parked" | "ready" | "running" | "ended";

export type ScheduleState = {
  readonly work: readonly Work[];
  readonly capacity: Capacity;
  readonly failFast: boolean;
  phase: Phase[];
  outcome: (Outcome | undefined)[];
  /** How many of its needs and collected members have not ended. */
  open: number[];
  /** Who waits for each to end, by need, collection or environment. */
  dependents: number[][];
  /** Instances that wait for the result of another with the same action. */
  sharers: Map<number, number[]>;
  demanded: boolean[];
  /** Expected milliseconds from the start of each to the end of the last that depends on it. */
  priority: number[];
  ready: ReadyQueue;
  free: Amounts;
  running: Set<number>;
  deciding: number;
  /** To be decided, and not said so yet. */
  asked: number[];
  /** Ended in this step; those who wait for them have not been looked at yet. */
  fresh: number[];
  interrupts: number;
  failed: boolean;
  left: number;
  finished: boolean;
};

export function initialState(
  work: Work[],
  options: { capacity: Capacity; failFast: boolean },
): ScheduleState {
  const { capacity, failFast } = options;
  const dependents: number[][] = work.map(() => []);
  const open = work.map(({ needs, collects, environment, id }, index) => {
    const before = new Set([...needs, ...collects]);
    for (const other of environment === undefined ? before : [...before, environment])
      if (other >= index) throw new Error(`bug: ${id} stands before what it needs`);
    for (const other of before) dependents[other]!.push(index);
    return before.size;
  });
  const priority = priorities(work);
  const whole = amounts(capacity);
  return {
    work,
    capacity,
    failFast,
    phase: work.map(() => "waiting"),
    outcome: work.map(() => undefined),
    open,
    dependents,
    sharers: new Map(),
    demanded: work.map(({ lazy }) => !lazy),
    priority,
    ready: new ReadyQueue(priority, (index) => wants(work[index]!, whole)),
    free: { ...whole },
    running: new Set(),
    deciding: 0,
    asked: [],
    fresh: [],
    interrupts: 0,
    failed: false,
    left: work.length,
    finished: false,
  };
}

/** The longest path from each through all that waits for it; for an environment, through its users. */
function priorities(work: readonly Work[]): number[] {
  const after = work.map(() => 0);
  const priority = work.map(() => 0);
  for (let index = work.length - 1; index >= 0; index--) {
    const { needs, collects, environment, expectedMs } = work[index]!;
    const mine = expectedMs + after[index]!;
    priority[index] = mine;
    for (const other of needs) if (after[other]! < mine) after[other] = mine;
    for (const other of collects) if (after[other]! < mine) after[other] = mine;
    if (environment !== undefined && after[environment]! < mine) after[environment] = mine;
  }
  return priority;
}

function amounts({ cpus, memoryBytes, gpus }: Capacity): Amounts {
  return { milliCpus: Math.max(1, Math.round(cpus * 1000)), memoryBytes: Math.ceil(memoryBytes), gpus };
}

/** More than the machine has counts as all of it: such a stage runs alone instead of never. */
function wants({ resources }: Work, whole: Amounts): Amounts {
  const wanted = amounts(resources);
  return {
    milliCpus: Math.min(wanted.milliCpus, whole.milliCpus),
    memoryBytes: Math.min(wanted.memoryBytes, whole.memoryBytes),
    gpus: Math.min(wanted.gpus, whole.gpus),
  };
}

export function step(state: ScheduleState, event: Event): { state: ScheduleState; commands: Command[] } {
  const commands: Command[] = [];
  switch (event.kind) {
    case "begin":
      for (let index = 0; index < state.work.length; index++) consider(state, index, commands);
      break;
    case "decided":
      decided(state, event, commands);
      break;
    case "ended":
      if (!state.running.has(event.index))
        throw new Error(`bug: ${state.work[event.index]!.id} ended without running`);
      end(state, event.index, event.outcome);
      break;
    case "interrupt":
      interrupt(state, commands);
      break;
  }
  lookAround(state, commands);
  if (!stopping(state)) startWhatFits(state, commands);
  settleRest(state, commands);
  // what is asked first is answered first and starts first
  const asked = state.asked.sort((a, b) => state.priority[b]! - state.priority[a]! || a - b);
  for (const index of asked) commands.push({ kind: "decide", index });
  state.asked = [];
  if (state.left === 0 && !state.finished) {
    state.finished = true;
    commands.push({ kind: "finished" });
  }
  return { state, commands };
}

function stopping(state: ScheduleState): boolean {
  return state.interrupts > 0 || (state.failFast && state.failed);
}

/** Moves a waiting instance on once everything before it has ended. */
function consider(state: ScheduleState, index: number, commands: Command[]): void {
  if (state.phase[index] !== "waiting" || state.open[index]! > 0 || !state.demanded[index]) return;
  const lost = state.work[index]!.needs.find((other) => !usable(state.outcome[other]));
  if (lost !== undefined) {
    settle(state, index, { kind: "skipped", because: state.work[lost]!.id }, commands);
  } else if (stopping(state)) {
    settle(state, index, { kind: "cancelled" }, commands);
  } else {
    state.phase[index] = "deciding";
    state.deciding++;
    state.asked.push(index);
    state.ready.put(index, "undecided");
  }
}

function usable(outcome: Outcome | undefined): boolean {
  return outcome?.kind === "succeeded" || outcome?.kind === "reused";
}

function decided(state: ScheduleState, event: Event & { kind: "decided" }, commands: Command[]): void {
  const { index } = event;
  if (state.phase[index] !== "deciding") throw new Error(`bug: ${state.work[index]!.id} was decided unasked`);
  state.deciding--;
  state.ready.leave(index);
  if (event.decision === "reuse" || event.decision === "failed") {
    end(state, index, event.decision === "failed" ? event.outcome : { kind: "reused" });
    return;
  }
  if (stopping(state)) {
    settle(state, index, { kind: "cancelled" }, commands);
    return;
  }
  if (event.decision === "same" && state.phase[event.same] !== "ended") {
    state.phase[index] = "parked";
    const sharers = state.sharers.get(event.same);
    if (sharers) sharers.push(index);
    else state.sharers.set(event.same, [index]);
    return;
  }
  if (event.decision === "same" && usable(state.outcome[event.same])) {
    // it ended well while this one was being decided: its result is there now
    state.phase[index] = "waiting";
    consider(state, index, commands);
    return;
  }
  // the same action, not run or failed, leaves no result to wait for: this one runs it
  const environment = state.work[index]!.environment;
  if (environment !== undefined && state.phase[environment] !== "ended") {
    state.phase[index] = "parked";
    state.dependents[environment]!.push(index);
    if (!state.demanded[environment]) {
      state.demanded[environment] = true;
      consider(state, environment, commands);
    }
    return;
  }
  enqueue(state, index, commands);
}

/** Puts an instance in line, unless its environment could not be had. */
function enqueue(state: ScheduleState, index: number, commands: Command[]): void {
  const environment = state.work[index]!.environment;
  if (environment !== undefined && !usable(state.outcome[environment])) {
    settle(state, index, { kind: "skipped", because: state.work[environment]!.id }, commands);
    return;
  }
  state.phase[index] = "ready";
  state.ready.put(index, "ready");
}

function startWhatFits(state: ScheduleState, commands: Command[]): void {
  for (const index of state.ready.takeFitting(state.free)) {
    state.phase[index] = "running";
    state.running.add(index);
    commands.push({ kind: "start", index });
  }
}

function settle(state: ScheduleState, index: number, outcome: Outcome, commands: Command[]): void {
  commands.push({ kind: "settled", index, outcome });
  end(state, index, outcome);
}

function end(state: ScheduleState, index: number, outcome: Outcome): void {
  if (state.phase[index] === "ended") throw new Error(`bug: ${state.work[index]!.id} ended twice`);
  if (state.running.delete(index)) {
    const held = wants(state.work[index]!, amounts(state.capacity));
    state.free.milliCpus += held.milliCpus;
    state.free.memoryBytes += held.memoryBytes;
    state.free.gpus += held.gpus;
  }
  state.phase[index] = "ended";
  state.outcome[index] = outcome;
  state.left--;
  if (outcome.kind === "failed") state.failed = true;
  state.fresh.push(index);
}

/** Moves on whoever waited for what has ended. A loop, since one skip may lead to a hundred thousand. */
function lookAround(state: ScheduleState, commands: Command[]): void {
  for (let index = state.fresh.pop(); index !== undefined; index = state.fresh.pop()) {
    const sharers = state.sharers.get(index) ?? [];
    state.sharers.delete(index);
    for (const sharer of sharers) {
      state.phase[sharer] = "waiting";
      consider(state, sharer, commands);
    }
    for (const dependent of state.dependents[index]!) {
      if (state.phase[dependent] === "parked") {
        if (stopping(state)) settle(state, dependent, { kind: "cancelled" }, commands);
        else enqueue(state, dependent, commands);
      } else if (state.phase[dependent] === "waiting") {
        state.open[dependent]!--;
        consider(state, dependent, commands);
      }
    }
  }
}

function interrupt(state: ScheduleState, commands: Command[]): void {
  state.interrupts++;
  const kind = state.interrupts === 1 ? "ask-to-end" : "kill";
  for (const index of state.running) commands.push({ kind, index });
}

/** When nothing is under way any more, whatever is left will never start: say so. */
function settleRest(state: ScheduleState, commands: Command[]): void {
  if (stopping(state)) {
    for (const index of state.ready.clear()) settle(state, index, { kind: "cancelled" }, commands);
    lookAround(state, commands);
  }
  const busy = state.running.size > 0 || state.ready.size > 0 || state.deciding > 0;
  if (busy || state.left === 0) return;
  for (let index = 0; index < state.work.length; index++) {
    if (state.phase[index] === "ended") continue;
    // an environment that nothing asked for counts as reused: it was not needed
    settle(state, index, state.demanded[index] ? { kind: "cancelled" } : { kind: "reused" }, commands);
    lookAround(state, commands);
  }
}
