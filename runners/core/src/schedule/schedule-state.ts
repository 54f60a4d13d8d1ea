// What the scheduler knows: the work, where each piece of it stands, and what is free. `schedule` moves it.

import type { Outcome } from "../ports/outcome.ts";
import { type Amounts, amountsOf, type Resources } from "./amounts.ts";
import { longestPaths } from "./longest-paths.ts";
import { ReadyQueue } from "./ready-queue.ts";

export type Work = {
  id: string;
  /** Must have succeeded or been reused first. */
  needs: number[];
  /** Must have ended first, however. */
  collects: number[];
  /** Must be there before it runs, but need not be for it to be reused. */
  environment?: number;
  resources: Resources;
  /** Expected duration in ms, for the longest-path order. */
  expectedMs: number;
  /** Built only when something that runs asks for it. */
  lazy: boolean;
};

/** All there is to share out. A pool that is not named here is not counted. */
export type Capacity = Resources;

export type Event =
  | { kind: "begin" }
  /** `same` is an instance that runs the same action right now: wait for its result. */
  | { kind: "decided"; index: number; decision: "run" | "reuse" }
  | { kind: "decided"; index: number; decision: "same"; same: number }
  /** It could not even be bound, e.g. its script does not parse. */
  | { kind: "decided"; index: number; decision: "failed"; outcome: Outcome }
  /** Its processes are dead, and what it gave is still being taken in: others may start meanwhile. */
  | { kind: "freed"; index: number }
  /** What it reads is no longer there: the producers, where they had ended, are asked again first. */
  | { kind: "lost"; index: number; producers: number[] }
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
  /** What each holds while it runs. */
  readonly wants: (index: number) => Amounts;
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
  free: number[];
  running: Set<number>;
  /** Running, but for what they held. */
  freed: Set<number>;
  deciding: number;
  /** To be decided, and not said so yet. */
  asked: number[];
  /** Ended in this step; those who wait for them have not been looked at yet. */
  fresh: number[];
  /** Whether anything that had ended was asked again. */
  remade: boolean;
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
  const priority = longestPaths(work);
  const amounts = amountsOf(capacity);
  const wants = (index: number) => amounts.wants(work[index]!.resources);
  return {
    work,
    wants,
    failFast,
    phase: work.map(() => "waiting"),
    outcome: work.map(() => undefined),
    open,
    dependents,
    sharers: new Map(),
    demanded: work.map(({ lazy }) => !lazy),
    priority,
    ready: new ReadyQueue(priority, wants),
    free: [...amounts.whole],
    running: new Set(),
    freed: new Set(),
    deciding: 0,
    asked: [],
    fresh: [],
    remade: false,
    interrupts: 0,
    failed: false,
    left: work.length,
    finished: false,
  };
}
