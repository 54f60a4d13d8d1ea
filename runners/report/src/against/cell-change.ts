// What differs between two reports cell by cell: means, attempts and causes, and whether the difference is more
// than noise. Significance is only claimed for other submissions that were measured in the same way.
import { permutationTest } from "@mlrb/core/statistics/significance/permutation-test";
import { taskTests } from "@mlrb/core/statistics/significance/task-tests";
import type { Cell } from "@mlrb/formats/report/cell";
import { canonicalJson } from "@mlrb/kit/json-file";
import { untestableReasons } from "../compare/left-out-reasons.ts";
import { type ItemNoise, itemNoise } from "./item-noise.ts";
import {
  baselineCause,
  type Cause,
  type ChangeEvidence,
  type ChangeKind,
  isRescored,
  type ScoreChange,
  type Sides,
  scoreChanges,
} from "./score-change.ts";

type CellSide = Pick<
  Cell,
  "mean" | "measured" | "planned" | "validN" | "disqualified" | "rejected" | "undecided" | "baseline"
>;

/** The permutation test of old against new attempts, adjusted by Holm over all cells that can be tested. */
type AttemptNoise =
  | { kind: "tested"; p: number; superiority: number }
  | { kind: "too-few"; pMin: number }
  | { kind: "not-tested"; why: string };

export type CellChange = Pick<Cell, "task" | "agent" | "metric" | "primary"> & {
  kind: ChangeKind;
  old: CellSide | null;
  now: CellSide | null;
  /** New mean minus old mean, in the metric's unit; null without both. */
  difference: number | null;
  /** How many scores changed, and how many of these are of the same files. */
  scores: { changed: number; rescored: number; of: number };
  /** Attempts of one side only. */
  seeds: { added: number; removed: number };
  /** Each with the number of attempts that it is true of. */
  causes: { cause: Cause; attempts: number }[];
  itemNoise: ItemNoise;
  attemptNoise: AttemptNoise;
};

export type ReportChanges = { cells: CellChange[]; scores: ScoreChange[] };

/** In the order of `now`; removed cells last. */
export function reportChanges(sides: Sides, evidence: ChangeEvidence): ReportChanges {
  const scores = scoreChanges(sides, evidence);
  const byCell = Map.groupBy(scores, cellId);
  const before = new Map(sides.old.cells.map((cell) => [cellId(cell), cell]));
  const after = new Map(sides.now.cells.map((cell) => [cellId(cell), cell]));
  const found = [...new Set([...after.keys(), ...before.keys()])].map((id) => {
    const pair = { old: before.get(id), now: after.get(id) };
    return { id, pair, ...cellChange(pair, { scores: byCell.get(id) ?? [], sides, evidence }) };
  });
  const tested = attemptTests(found.filter(({ attemptsUntested }) => attemptsUntested === undefined));
  const cells = found.map(
    ({ id, change, attemptsUntested: why }): CellChange => ({
      ...change,
      attemptNoise: tested.get(id) ?? notTested(why ?? "a side has no value"),
    }),
  );
  return { cells, scores };
}

function cellId({ task, agent, metric }: Pick<Cell, "task" | "agent" | "metric">): string {
  return JSON.stringify([task, agent, metric]);
}

type CellPair = { old: Cell | undefined; now: Cell | undefined };

/** `attemptsUntested`: why its attempts are not tested; undefined if they can be. */
function cellChange(
  { old, now }: CellPair,
  { scores, sides, evidence }: { scores: ScoreChange[]; sides: Sides; evidence: ChangeEvidence },
) {
  const { task, agent, metric, primary } = (now ?? old)!;
  const changed = scores.filter(({ kind }) => kind !== "equal");
  const both = old && now;
  const kind: ChangeKind = !old
    ? "added"
    : !now
      ? "removed"
      : changed.length > 0 || canonicalJson(sideOf(old)) !== canonicalJson(sideOf(now))
        ? "changed"
        : "equal";
  const why = untested(kind, scores);
  const counted = countedCauses(changed);
  // no attempt need have failed for the cell to have another baseline
  const baseline = both && baselineCause(old, now);
  const isNamed = !baseline || counted.some(({ cause }) => cause.kind === "baseline");
  const ofKind = (one: ChangeKind) => scores.filter((score) => score.kind === one).length;
  const place = { task, agent, metric };
  const change = {
    ...{ task, agent, metric, primary, kind },
    old: old ? sideOf(old) : null,
    now: now ? sideOf(now) : null,
    difference: both && old.mean !== null && now.mean !== null ? now.mean - old.mean : null,
    scores: { changed: changed.length, rescored: scores.filter(isRescored).length, of: scores.length },
    seeds: { added: ofKind("added"), removed: ofKind("removed") },
    causes: isNamed ? counted : [...counted, { cause: baseline, attempts: scores.length }],
    itemNoise: why === undefined ? itemNoise(place, { sides, evidence }) : notTested(why),
  };
  return { change, attemptsUntested: why ?? untestedAttempts({ old, now }, scores) };
}

function sideOf(cell: Cell): CellSide {
  const { mean, measured, planned, validN, disqualified, rejected, undecided, baseline } = cell;
  return { mean, measured, planned, validN, disqualified, rejected, undecided, baseline };
}

function countedCauses(changed: ScoreChange[]): CellChange["causes"] {
  const all = changed.flatMap(({ causes }) => causes);
  return [...Map.groupBy(all, (cause) => canonicalJson(cause)).values()].map((same) => ({
    cause: same[0]!,
    attempts: same.length,
  }));
}

function notTested(why: string): { kind: "not-tested"; why: string } {
  return { kind: "not-tested", why };
}

/** Why no test is valid; undefined if one may be. */
function untested(kind: ChangeKind, scores: ScoreChange[]): string | undefined {
  if (kind === "equal") return "nothing changed";
  if (kind === "added" || kind === "removed") return `${kind}: there is only one side`;
  const shared = scores.filter(({ old, now }) => old && now);
  if (shared.length === 0) return "no seed is in both, so it is not known whether they were measured alike";
  if (shared.some(({ measurement }) => measurement === "otherwise"))
    return "measured in another way: the scorer or the data changed";
  if (shared.every(({ old, now }) => old!.submission === now!.submission)) return "the same submissions";
  if (shared.some(({ measurement }) => measurement === "unknown"))
    return "it is not known whether scorer and data are the same";
  return undefined;
}

/** Why attempts are no two independent groups. */
function untestedAttempts({ old, now }: CellPair, scores: ScoreChange[]): string | undefined {
  if (!now!.primary) return "only the primary metric is tested over attempts";
  if (old!.baseline !== now!.baseline) return "the trivial baseline changed";
  const before = new Set(scores.map((score) => score.old?.submission ?? null));
  const same = scores.filter((score) => score.now?.submission && before.has(score.now.submission)).length;
  if (same > 0) return `${same} of ${now!.planned} submissions are in both, so these are no two samples`;
  const whys = [...untestableReasons(old!), ...untestableReasons(now!)];
  return whys.length > 0 ? [...new Set(whys)].join("; ") : undefined;
}

/** By cell. */
function attemptTests(testable: { id: string; pair: CellPair }[]): Map<string, AttemptNoise> {
  const known = (cell: Cell) => cell.counted.filter((value) => value !== null);
  const test = permutationTest(
    testable.map(({ id, pair: { old, now } }) => ({
      task: id,
      direction: now!.direction,
      a: known(now!),
      b: known(old!),
    })),
  );
  const held = test.kind === "tested" ? taskTests(test.tasks) : [];
  return new Map(
    held.map((one) => [
      one.task,
      one.kind === "tested"
        ? { kind: "tested", p: one.p, superiority: one.superiority }
        : { kind: "too-few", pMin: one.pMin },
    ]),
  );
}
