// Decides which instance starts when. Deterministic, without disk, process, clock or chance: the run sends events
// and executes the commands, and tests drive it through any order of events. `step` changes the given state and
// returns it, since copying a hundred thousand entries per event would cost more than the work. Use only the
// returned state.
import { type Outcome, unreachable } from "../ports/outcome.ts";
import { type Command, type Event, giveBack, leave, type ScheduleState } from "./schedule-state.ts";
import { countUser, isServing, keptForBegun, servicesToStop, startsNextToServices } from "./services.ts";

export function step(state: ScheduleState, event: Event): { state: ScheduleState; commands: Command[] } {
  const commands: Command[] = [];
  switch (event.kind) {
    case "begin":
      for (let index = 0; index < state.work.length; index++) consider(state, index, commands);
      break;
    case "decided":
      decided(state, event, commands);
      break;
    case "serving":
      serving(state, event.index, commands);
      break;
    case "away":
      holdUsers(state, event.index, commands);
      break;
    case "freed":
      if (!state.running.has(event.index) || state.freed.has(event.index))
        throw new Error(`bug: ${state.work[event.index]!.id} gave back what it did not hold`);
      giveBack(state, event.index);
      state.freed.add(event.index);
      break;
    case "lost":
      lost(state, event, commands);
      break;
    case "ended":
      if (!state.running.has(event.index))
        throw new Error(`bug: ${state.work[event.index]!.id} ended without running`);
      end(state, event.index, event.outcome);
      break;
    case "interrupt":
      interrupt(state, commands);
      break;
    default:
      unreachable(event);
  }
  lookAround(state, commands);
  const makeWay = stopping(state) || startWhatFits(state, commands);
  settleRest(state, commands);
  for (const index of servicesToStop(state, makeWay)) commands.push({ kind: "stop", index });
  // the first to be asked is decided first and starts first
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

/** Advances a waiting instance once everything before it has ended. */
function consider(state: ScheduleState, index: number, commands: Command[]): void {
  if (state.phase[index] !== "waiting" || state.open[index]! > 0 || !state.demanded[index]) return;
  if (state.remade && waitsAgain(state, index)) return;
  const failed = state.work[index]!.needs.find((other) => !usable(state.outcome[other]));
  if (failed !== undefined) {
    settle(state, index, { kind: "skipped", because: state.work[failed]!.id }, commands);
  } else if (stopping(state)) {
    settle(state, index, { kind: "cancelled" }, commands);
  } else {
    state.phase[index] = "deciding";
    state.deciding++;
    state.asked.push(index);
    state.ready.put(index, "undecided");
  }
}

/** Whether a dependency was decided again after it had ended; then the instance waits for it. */
function waitsAgain(state: ScheduleState, index: number): boolean {
  const { needs, collects } = state.work[index]!;
  for (const other of new Set([...needs, ...collects])) {
    if (state.phase[other] === "ended") continue;
    state.open[index]!++;
    state.dependents[other]!.push(index);
  }
  return state.open[index]! > 0;
}

/** Makes a running instance wait for its producers again. */
function lost(
  state: ScheduleState,
  { index, producers }: Event & { kind: "lost" },
  commands: Command[],
): void {
  if (!state.running.has(index)) throw new Error(`bug: ${state.work[index]!.id} lost what it did not read`);
  if (stopping(state)) {
    settle(state, index, { kind: "cancelled" }, commands);
    return;
  }
  state.remade = true;
  leave(state, index);
  const service = state.services.get(index);
  if (service) Object.assign(service, { serving: false, stopping: false });
  state.phase[index] = "waiting";
  const ended = new Set(producers.filter((producer) => state.phase[producer] === "ended"));
  for (const producer of ended) again(state, producer);
  for (const one of [...ended, index]) consider(state, one, commands);
}

/** Makes an instance that had ended wait once more. */
function again(state: ScheduleState, index: number): void {
  state.phase[index] = "waiting";
  state.outcome[index] = undefined;
  state.dependents[index] = []; // who waits for it again says so below, or when its turn comes
  state.left++;
  countUser(state, index, 1);
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
    state.sharers.getOrInsert(event.same, []).push(index);
    return;
  }
  if (event.decision === "same" && usable(state.outcome[event.same])) {
    // it succeeded while this one was being decided: its result exists now
    state.phase[index] = "waiting";
    consider(state, index, commands);
    return;
  }
  // the other instance left no result, so this one runs the action
  if (event.decision === "run" && event.begun) state.begun.add(index);
  else state.begun.delete(index);
  enqueue(state, index, commands);
}

/**
 * Adds an instance to the queue once its checks have succeeded, its environment is built and its service answers.
 * It waits for one at a time, so that no environment is built for an instance that a check stops.
 */
function enqueue(state: ScheduleState, index: number, commands: Command[]): void {
  const { checks = [], environment, uses } = state.work[index]!;
  const before = [
    ...(state.begun.has(index) ? [] : checks),
    ...(environment === undefined ? [] : [environment]),
  ];
  const missing = before.find((other) => !usable(state.outcome[other]));
  const first = missing ?? (uses === undefined || isServing(state, uses) ? undefined : uses);
  if (first === undefined) {
    state.phase[index] = "ready";
    state.ready.put(index, "ready");
    return;
  }
  const stopped = first === uses && usable(state.outcome[first]);
  if (state.phase[first] === "ended" && !stopped) {
    settle(state, index, { kind: "skipped", because: state.work[first]!.id }, commands);
    return;
  }
  if (stopped) again(state, first);
  state.phase[index] = "parked";
  state.dependents[first]!.push(index);
  if (state.demanded[first] && !stopped) return;
  state.demanded[first] = true;
  consider(state, first, commands);
}

/** Lets an instance go on that waited for another one. */
function resume(state: ScheduleState, index: number, commands: Command[]): void {
  if (stopping(state)) settle(state, index, { kind: "cancelled" }, commands);
  else enqueue(state, index, commands);
}

/** A service answers: what waits for it goes on. */
function serving(state: ScheduleState, index: number, commands: Command[]): void {
  const service = state.services.get(index);
  if (!service || !state.running.has(index))
    throw new Error(`bug: ${state.work[index]!.id} serves without running`);
  service.serving = true;
  wake(state, index, commands);
}

/** Lets the parked instances that wait for `index` go on. */
function wake(state: ScheduleState, index: number, commands: Command[]): void {
  const waiting = state.dependents[index]!;
  state.dependents[index] = [];
  for (const dependent of waiting)
    if (state.phase[dependent] === "parked") resume(state, dependent, commands);
}

/** A service has ended. Users that had not started wait for its next start, or are skipped. */
function serviceEnded(state: ScheduleState, index: number, commands: Command[]): void {
  state.services.get(index)!.stopping = false;
  holdUsers(state, index, commands);
  wake(state, index, commands);
}

/** A service does not answer: users that had not started wait for it. */
function holdUsers(state: ScheduleState, index: number, commands: Command[]): void {
  const service = state.services.get(index)!;
  service.serving = false;
  for (const user of service.users) {
    if (state.phase[user] !== "ready") continue;
    state.ready.leave(user);
    resume(state, user, commands);
  }
}

/** Returns whether an instance could not start only because of running services. */
function startWhatFits(state: ScheduleState, commands: Command[]): boolean {
  const starts = state.services.size === 0 ? undefined : startsNextToServices(state);
  const kept = state.services.size === 0 ? undefined : keptForBegun(state);
  const startable = starts && ((index: number) => kept!.leaves(index) && starts.startable(index));
  for (const index of state.ready.takeFitting(state.free, startable)) {
    state.phase[index] = "running";
    state.running.add(index);
    commands.push({ kind: "start", index });
  }
  return starts?.blocked() ?? false;
}

function settle(state: ScheduleState, index: number, outcome: Outcome, commands: Command[]): void {
  commands.push({ kind: "settled", index, outcome });
  end(state, index, outcome);
}

function end(state: ScheduleState, index: number, outcome: Outcome): void {
  if (state.phase[index] === "ended") throw new Error(`bug: ${state.work[index]!.id} ended twice`);
  leave(state, index);
  state.phase[index] = "ended";
  state.outcome[index] = outcome;
  state.left--;
  countUser(state, index, -1);
  if (outcome.kind === "failed") state.failed = true;
  state.fresh.push(index);
}

/** Advances the dependents of ended instances. A loop, since one skip may cause a hundred thousand. */
function lookAround(state: ScheduleState, commands: Command[]): void {
  for (let index = state.fresh.pop(); index !== undefined; index = state.fresh.pop()) {
    const sharers = state.sharers.get(index) ?? [];
    state.sharers.delete(index);
    if (state.services.has(index)) {
      serviceEnded(state, index, commands);
      continue;
    }
    for (const sharer of sharers) {
      state.phase[sharer] = "waiting";
      consider(state, sharer, commands);
    }
    for (const dependent of state.dependents[index]!) {
      if (state.phase[dependent] === "parked") resume(state, dependent, commands);
      else if (state.phase[dependent] === "waiting") {
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

/** When nothing is running, ready or being decided, the rest will never start: settles it. */
function settleRest(state: ScheduleState, commands: Command[]): void {
  if (stopping(state)) {
    for (const index of state.ready.clear()) settle(state, index, { kind: "cancelled" }, commands);
    lookAround(state, commands);
  }
  const busy = state.running.size > 0 || state.ready.size > 0 || state.deciding > 0;
  if (busy || state.left === 0) return;
  for (let index = 0; index < state.work.length; index++) {
    if (state.phase[index] === "ended") continue;
    // an environment that was not needed counts as reused
    settle(state, index, state.demanded[index] ? { kind: "cancelled" } : { kind: "reused" }, commands);
    lookAround(state, commands);
  }
}
