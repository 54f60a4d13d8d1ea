// Decides what may start when. Deterministic, and free of disk, process, clock and chance: the run
// feeds it events and carries out its commands, and tests drive it through any order of events.
// `step` works on the state it is given and returns it, since copying a hundred thousand entries an
// event would cost more than the work: hold on to the returned state only.
import type { Outcome } from "./outcome.ts";

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
  priority: number[];
  /** Ready to start, most urgent first. */
  ready: number[];
  free: Capacity;
  running: Set<number>;
  deciding: number;
  interrupts: number;
  failed: boolean;
  left: number;
  finished: boolean;
};

export function initialState(
  work: Work[],
  options: { capacity: Capacity; failFast: boolean },
): ScheduleState {
  const dependents: number[][] = work.map(() => []);
  const open = work.map(({ needs, collects }, index) => {
    const before = new Set([...needs, ...collects]);
    for (const other of before) {
      if (other >= index) throw new Error(`bug: ${work[index]!.id} stands before what it needs`);
      dependents[other]!.push(index);
    }
    return before.size;
  });
  return {
    work,
    capacity: options.capacity,
    failFast: options.failFast,
    phase: work.map(() => "waiting"),
    outcome: work.map(() => undefined),
    open,
    dependents,
    sharers: new Map(),
    demanded: work.map(({ lazy }) => !lazy),
    priority: priorities(work, dependents),
    ready: [],
    free: { ...options.capacity },
    running: new Set(),
    deciding: 0,
    interrupts: 0,
    failed: false,
    left: work.length,
    finished: false,
  };
}

/** Expected milliseconds from the start of each to the end of the last that depends on it. */
function priorities(work: readonly Work[], dependents: number[][]): number[] {
  const priority = work.map(() => 0);
  for (let index = work.length - 1; index >= 0; index--) {
    let after = 0;
    for (const other of dependents[index]!) after = Math.max(after, priority[other]!);
    priority[index] = work[index]!.expectedMs + after;
  }
  return priority;
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
      end(state, event.index, event.outcome, commands);
      break;
    case "interrupt":
      interrupt(state, commands);
      break;
  }
  startWhatFits(state, commands);
  settleRest(state, commands);
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
    commands.push({ kind: "decide", index });
  }
}

function usable(outcome: Outcome | undefined): boolean {
  return outcome?.kind === "succeeded" || outcome?.kind === "reused";
}

function decided(state: ScheduleState, event: Event & { kind: "decided" }, commands: Command[]): void {
  const { index } = event;
  if (state.phase[index] !== "deciding") throw new Error(`bug: ${state.work[index]!.id} was decided unasked`);
  state.deciding--;
  if (event.decision === "reuse" || event.decision === "failed") {
    end(state, index, event.decision === "failed" ? event.outcome : { kind: "reused" }, commands);
    return;
  }
  if (stopping(state)) {
    settle(state, index, { kind: "cancelled" }, commands);
    return;
  }
  if (event.decision === "same") {
    const { same } = event;
    if (state.phase[same] === "ended") {
      // it ended while this one was being decided: ask again
      state.phase[index] = "waiting";
      consider(state, index, commands);
      return;
    }
    state.phase[index] = "parked";
    state.sharers.set(same, [...(state.sharers.get(same) ?? []), index]);
    return;
  }
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
  let at = state.ready.length;
  while (at > 0 && before(state, index, state.ready[at - 1]!)) at--;
  state.ready.splice(at, 0, index);
}

function before(state: ScheduleState, a: number, b: number): boolean {
  return state.priority[a]! > state.priority[b]! || (state.priority[a] === state.priority[b] && a < b);
}

/** Starts what fits, most urgent first. What one lacks is kept free for it, so that the large never starve. */
function startWhatFits(state: ScheduleState, commands: Command[]): void {
  const free = { ...state.free };
  if (stopping(state) || free.cpus <= 0) return;
  const kinds = ["cpus", "memoryBytes", "gpus"] as const;
  const waiting: number[] = [];
  let looked = 0;
  for (const index of state.ready) {
    if (free.cpus <= 0) break;
    looked++;
    const wanted = wants(state, index);
    const lacking = kinds.filter((kind) => wanted[kind] > free[kind]);
    if (lacking.length > 0) {
      for (const kind of lacking) free[kind] = 0;
      waiting.push(index);
      continue;
    }
    for (const kind of kinds) {
      free[kind] -= wanted[kind];
      state.free[kind] -= wanted[kind];
    }
    state.phase[index] = "running";
    state.running.add(index);
    commands.push({ kind: "start", index });
  }
  state.ready.splice(0, looked, ...waiting);
}

/** More than the machine has counts as all of it: such a stage runs alone instead of never. */
function wants(state: ScheduleState, index: number): Capacity {
  const { resources } = state.work[index]!;
  return {
    cpus: Math.min(resources.cpus, state.capacity.cpus),
    memoryBytes: Math.min(resources.memoryBytes, state.capacity.memoryBytes),
    gpus: Math.min(resources.gpus, state.capacity.gpus),
  };
}

function settle(state: ScheduleState, index: number, outcome: Outcome, commands: Command[]): void {
  commands.push({ kind: "settled", index, outcome });
  end(state, index, outcome, commands);
}

function end(state: ScheduleState, index: number, outcome: Outcome, commands: Command[]): void {
  if (state.phase[index] === "ended") throw new Error(`bug: ${state.work[index]!.id} ended twice`);
  if (state.running.delete(index)) {
    const wanted = wants(state, index);
    state.free.cpus += wanted.cpus;
    state.free.memoryBytes += wanted.memoryBytes;
    state.free.gpus += wanted.gpus;
  }
  state.phase[index] = "ended";
  state.outcome[index] = outcome;
  state.left--;
  if (outcome.kind === "failed") state.failed = true;
  for (const sharer of state.sharers.get(index) ?? []) {
    state.phase[sharer] = "waiting";
    consider(state, sharer, commands);
  }
  state.sharers.delete(index);
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

function interrupt(state: ScheduleState, commands: Command[]): void {
  state.interrupts++;
  const kind = state.interrupts === 1 ? "ask-to-end" : "kill";
  for (const index of state.running) commands.push({ kind, index });
}

/** When nothing is under way any more, whatever is left will never start: say so. */
function settleRest(state: ScheduleState, commands: Command[]): void {
  if (stopping(state)) {
    for (const index of state.ready) settle(state, index, { kind: "cancelled" }, commands);
    state.ready = [];
  }
  const busy = state.running.size > 0 || state.ready.length > 0 || state.deciding > 0;
  if (busy || state.left === 0) return;
  for (let index = 0; index < state.work.length; index++) {
    if (state.phase[index] === "ended") continue;
    // an environment that nothing asked for counts as reused: it was not needed
    settle(state, index, state.demanded[index] ? { kind: "cancelled" } : { kind: "reused" }, commands);
  }
}
