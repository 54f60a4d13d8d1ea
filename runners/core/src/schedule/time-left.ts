// How long a run still takes, from how long its instances took before. A run cannot be shorter than its
// longest way, nor than its work shared out over what the machine has; the larger of the two is the guess.
// Pure: no disk, no clock.
import { amountsOf, type Resources } from "./amounts.ts";
import { longestPaths } from "./longest-paths.ts";

export type TimedWork = {
  /** Its stage's name: one that was never timed is taken to last as long as the others of its stage. */
  stage: string;
  needs: number[];
  collects: number[];
  environment?: number;
  resources: Resources;
  /** How long it took when it last ran, in milliseconds. */
  tookMs: number | undefined;
  /** Runs only if something asks for it, so it costs nothing until it does. */
  lazy: boolean;
};

export type Standing =
  | { kind: "waiting" }
  | { kind: "running"; forMs: number }
  /** `tookMs`: where it was carried out just now. */
  | { kind: "ended"; tookMs?: number };

export type TimeLeft = {
  ms: number;
  /** How many more there are of which nothing is known: it takes at least `ms`. */
  untimed: number;
};

/** `standings` has an entry for each of `works`. undefined where nothing is left, or nothing is known of it. */
export function timeLeft(
  works: readonly TimedWork[],
  { standings, capacity }: { standings: readonly Standing[]; capacity: Resources },
): TimeLeft | undefined {
  const means = stageMeans(works, standings);
  let untimed = 0;
  let timed = 0;
  const steps = works.map((work, at) => {
    const standing = standings[at]!;
    if (standing.kind === "ended" || (standing.kind === "waiting" && work.lazy))
      return { ...work, expectedMs: 0 };
    const wholeMs = work.tookMs ?? means.get(work.stage);
    if (wholeMs === undefined) untimed++;
    else timed++;
    const goneMs = standing.kind === "running" ? standing.forMs : 0;
    return { ...work, expectedMs: Math.max(0, (wholeMs ?? 0) - goneMs) };
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

/** By stage, over what ran just now and what ran before. */
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
