// Estimates the remaining time of a run from earlier durations of its instances, corrected by what has ended in
// this run. A run cannot be shorter than its longest path, nor than its work divided by the machine's resources; the
// larger bound is the estimate. Pure: no disk, no clock.
import { formatDuration } from "../text/units.ts";
import { amountsOf, type Resources } from "./amounts.ts";
import { longestPaths } from "./longest-paths.ts";
import type { Work } from "./schedule-state.ts";

/** A lazy instance counts as 0 until another one needs it. */
export type TimedWork = Pick<Work, "needs" | "collects" | "checks" | "environment" | "resources" | "lazy"> & {
  /** The name of its stage. An instance without an earlier duration gets the mean of its stage. */
  stage: string;
  /** Duration of its last run in milliseconds, or the declared one. */
  tookMs: number | undefined;
};

export type Standing =
  | { kind: "waiting" }
  | { kind: "running"; forMs: number }
  /** `tookMs`: if it ran in this run. */
  | { kind: "ended"; tookMs?: number };

export type TimeLeft = {
  ms: number;
  /** Instances without an estimate, or that run longer than theirs; with any, `ms` is a lower bound. */
  untimed: number;
};

/** `about 4 m`, coarse since it is an estimate; `at least` if some instances have none. */
export function timeWords({ ms, untimed }: TimeLeft): string {
  const minutes = Math.ceil(ms / 60_000);
  const seconds = ms < 10_000 ? Math.ceil(ms / 1000) : Math.ceil(ms / 5000) * 5;
  const coarse = minutes < 60 ? `${minutes} m` : formatDuration(minutes * 60_000);
  return `${untimed > 0 ? "at least" : "about"} ${seconds < 60 ? `${seconds} s` : coarse}`;
}

/** `standings` has an entry for each of `works`. Undefined if nothing is left or nothing has an estimate. */
export function timeLeft(
  works: readonly TimedWork[],
  { standings, capacity }: { standings: readonly Standing[]; capacity: Resources },
): TimeLeft | undefined {
  const means = stageMeans(works, standings);
  const pace = paceOf(works, standings);
  let untimed = 0;
  let timed = 0;
  const steps = works.map((work, at) => {
    const standing = standings[at]!;
    if (standing.kind === "ended" || (standing.kind === "waiting" && work.lazy))
      return { ...work, expectedMs: 0 };
    const wholeMs = work.tookMs === undefined ? means.get(work.stage) : work.tookMs * pace;
    const goneMs = standing.kind === "running" ? standing.forMs : 0;
    const isKnown = wholeMs !== undefined && wholeMs >= goneMs;
    if (isKnown) timed++;
    else untimed++;
    return { ...work, expectedMs: isKnown ? wholeMs - goneMs : 0 };
  });
  if (timed === 0) return undefined;
  const { whole, wants } = amountsOf(capacity);
  const shared = whole.map((all, kind) =>
    all === 0
      ? 0
      : steps.reduce((sum, { expectedMs, resources }) => sum + expectedMs * wants(resources)[kind]!, 0) / all,
  );
  const longest = longestPaths(steps).reduce((most, path) => Math.max(most, path), 0);
  return { ms: Math.max(longest, ...shared), untimed };
}

/** How much longer what has ended in this run took than was expected, without environments and services. */
function paceOf(works: readonly TimedWork[], standings: readonly Standing[]): number {
  const sum = { tookMs: 0, expectedMs: 0 };
  for (const [at, { lazy, tookMs: expectedMs }] of works.entries()) {
    const standing = standings[at]!;
    if (lazy || standing.kind !== "ended" || standing.tookMs === undefined || !expectedMs) continue;
    sum.tookMs += standing.tookMs;
    sum.expectedMs += expectedMs;
  }
  return sum.expectedMs === 0 ? 1 : sum.tookMs / sum.expectedMs;
}

/** Mean duration by stage, over this run and earlier ones. */
function stageMeans(works: readonly TimedWork[], standings: readonly Standing[]): Map<string, number> {
  const sums = new Map<string, { ms: number; count: number }>();
  for (const [at, { stage, tookMs }] of works.entries()) {
    const standing = standings[at]!;
    const ms = (standing.kind === "ended" ? standing.tookMs : undefined) ?? tookMs;
    if (ms === undefined) continue;
    const sum = sums.get(stage) ?? { ms: 0, count: 0 };
    sums.set(stage, { ms: sum.ms + ms, count: sum.count + 1 });
  }
  return new Map([...sums].map(([stage, { ms, count }]) => [stage, ms / count]));
}
