// The scheduler's state: the instances, the phase of each, and the free resources. `schedule` changes it.

import type { Outcome } from "../ports/outcome.ts";
import { amountsOf, type Resources } from "./amounts.ts";
import { longestPaths } from "./longest-paths.ts";
import { ReadyQueue } from "./ready-queue.ts";
import { amountsWithServices, servicesOf } from "./service-amounts.ts";

export type Work = {
  id: string;
  /** Indices that must have succeeded or been reused first. */
  needs: number[];
  /** Indices that must have ended first, with any outcome. */
  collects: number[];
  /** The index of its environment, which must be built before it runs, but not for a reuse. */
  environment?: number;
  /** Indices that must have succeeded before it starts, but not for a reuse, nor if it runs already. */
  checks?: number[];
  /** The index of the service that must be serving while it runs. It is stopped once nothing needs it. */
  uses?: number;
  resources: Resources;
  /** Expected duration in ms, for the longest-path order. */
  expectedMs: number;
  /** Its place in an order of starts, from 0; such instances come first. */
  start?: number;
  /** Runs only if an instance that runs needs it. */
  lazy: boolean;
};

/** The whole resources. A pool that is not named here is not counted. */
export type Capacity = Resources;

export type Event =
  | { kind: "begin" }
  /** `same` is an instance that runs the same action now: wait for its result. */
  /** `begun`: its processes run already, and are followed. */
  | { kind: "decided"; index: number; decision: "run" | "reuse"; begun?: boolean }
  | { kind: "decided"; index: number; decision: "same"; same: number }
  /** Its inputs could not be bound, e.g. its script does not parse. */
  | { kind: "decided"; index: number; decision: "failed"; outcome: Outcome }
  /** A service answers: its users may start. */
  | { kind: "serving"; index: number }
  /** A service that served is started again: users that have not started wait until it serves. */
  | { kind: "away"; index: number }
  /** Its processes are dead while its outputs are still being ingested: its resources are free. */
  | { kind: "freed"; index: number }
  /** Its inputs are no longer in the store: producers that had ended are decided again first. */
  | { kind: "lost"; index: number; producers: number[] }
  | { kind: "ended"; index: number; outcome: Outcome }
  /** Ctrl-C: the first asks instances to end, the second kills them. */
  | { kind: "interrupt" };

export type Command =
  /** Its inputs exist: bind them and decide whether it runs. */
  | { kind: "decide"; index: number }
  | { kind: "start"; index: number }
  /** No instance needs the running service: it is to end. */
  | { kind: "stop"; index: number }
  | { kind: "ask-to-end"; index: number }
  | { kind: "kill"; index: number }
  /** The scheduler decided the outcome without running the instance. */
  | { kind: "settled"; index: number; outcome: Outcome }
  | { kind: "finished" };

type Phase = "waiting" | "deciding" | "parked" | "ready" | "running" | "ended";

export type ScheduleState = ReturnType<typeof initialState>;

export function initialState(
  work: Work[],
  { capacity, failFast }: { capacity: Capacity; failFast: boolean },
) {
  const dependents: number[][] = work.map(() => []);
  const open = work.map(({ needs, collects, environment, uses, checks = [], id }, index) => {
    const before = new Set([...needs, ...collects]);
    const late = [environment, uses].filter((other) => other !== undefined);
    for (const other of [...before, ...checks, ...late])
      if (other >= index) throw new Error(`bug: ${id} comes before its needs`);
    for (const other of before) dependents[other]!.push(index);
    return before.size;
  });
  const priority = longestPaths(work);
  const amounts = amountsOf(capacity);
  const services = servicesOf(work);
  const cut = amountsWithServices(work, { services, amounts });
  const wants = (index: number) => cut.get(index) ?? amounts.wants(work[index]!.resources);
  return {
    work: work as readonly Work[],
    /** The amounts that each instance holds while it runs. */
    wants,
    failFast,
    phase: work.map((): Phase => "waiting"),
    outcome: work.map((): Outcome | undefined => undefined),
    /** By instance: the number of needs and collected members that have not ended. */
    open,
    /** By instance: those that wait for its end, by need, collection, check or environment. */
    dependents,
    /** Instances that wait for the result of another with the same action. */
    sharers: new Map<number, number[]>(),
    demanded: work.map(({ lazy }) => !lazy),
    /** Expected milliseconds from the start of each instance to the end of its last dependent. */
    priority,
    ready: new ReadyQueue(priority, wants),
    whole: amounts.whole,
    free: [...amounts.whole],
    running: new Set<number>(),
    /** Running instances whose resources are free again. */
    freed: new Set<number>(),
    /** Instances whose processes ran before this run. */
    begun: new Set<number>(),
    /** By service, once it is demanded or used: see services. */
    services,
    deciding: 0,
    /** To be decided; the command is not sent yet. */
    asked: [] as number[],
    /** Ended in this step; their dependents are not considered yet. */
    fresh: [] as number[],
    /** Whether an instance that had ended was decided again. */
    remade: false,
    interrupts: 0,
    failed: false,
    left: work.length,
    finished: false,
  };
}

/** Removes an instance from the running ones and frees its resources. */
export function leave(state: ScheduleState, index: number): void {
  if (state.running.delete(index) && !state.freed.delete(index)) giveBack(state, index);
}

export function giveBack(state: ScheduleState, index: number): void {
  const held = state.wants(index);
  for (let kind = 0; kind < held.length; kind++) state.free[kind]! += held[kind]!;
}
