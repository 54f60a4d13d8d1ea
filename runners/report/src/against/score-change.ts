// What differs between two reports for one attempt and metric, and why: submission, verdict, scorer, data. A cause
// that neither report names stays unknown.
import type { Reading } from "@mlrb/formats/read-format";
import type { Report } from "@mlrb/formats/report";
import type { Attempt, Seed } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { canonicalJson } from "@mlrb/kit/json-file";

export type ScorePlace = { task: string; agent: string; seed: Seed; metric: string };

/** An attempt's score in one report. Numbers are null where there is no score. */
type ScoreState = {
  verdict: Attempt["verdict"]["kind"];
  /** Its digest. */
  submission: string | null;
  score: Attempt["scores"][string]["kind"];
  value: number | null;
  standardError: number | null;
  items: number | null;
  version: number | null;
  /** What enters the mean. */
  counted: number | null;
};

/** A part of an action key that differs. Digests, or values of parameters; null where a side has none. */
export type KeyChange = {
  /** The stage whose key it is, e.g. score. */
  stage: string;
  words: string;
  old: string | null;
  now: string | null;
};

type SideField = "metric" | "data" | "condition" | "budget" | "preset";
export type Cause =
  | { kind: "submission"; old: string | null; now: string | null }
  | { kind: "verdict"; old: string; now: string; rules: { rule: string; old: string; now: string }[] }
  | { kind: "version"; old: number; now: number }
  | { kind: "items"; old: number; now: number }
  | ({ kind: "key" } & KeyChange)
  | { kind: "reference-model"; name: string; old: number | null; now: number | null }
  | { kind: "baseline"; old: number | null; now: number | null }
  | { kind: SideField; old: string; now: string }
  | { kind: "unknown"; why: string };

/** Whether two scores were measured by the same scorer on the same data. */
type Measurement = "alike" | "otherwise" | "unknown";

/** Equal: not one field of the two states differs. */
export type ChangeKind = "changed" | "added" | "removed" | "equal";

export type ScoreChange = ScorePlace & {
  kind: ChangeKind;
  old: ScoreState | null;
  now: ScoreState | null;
  /** Two scores of the same files. */
  sameSubmission: boolean;
  measurement: Measurement;
  causes: Cause[];
};

/** What a cache knows of both scores. A report.json alone names no key and holds no items. */
export type ChangeEvidence = {
  /** What differs between the keys of how both scores were measured; undefined if a key is unknown. */
  keys(place: ScorePlace): KeyChange[] | undefined;
  samples(side: "old" | "now", place: ScorePlace): Reading<string>;
};

/** Of reports that are not compared with a cache. */
export const noEvidence: ChangeEvidence = {
  keys: () => undefined,
  samples: () => ({ kind: "unreadable", cause: "a report.json holds no samples" }),
};

export type Sides = { old: Report; now: Report };

/** In the order of `now`; removed ones last. */
export function scoreChanges({ old, now }: Sides, evidence: ChangeEvidence): ScoreChange[] {
  const before = statesOf(old);
  const after = statesOf(now);
  const places = new Map([...after, ...before].map(([id, { place }]) => [id, place]));
  return [...places].map(([id, place]): ScoreChange => {
    const [was, is] = [before.get(id), after.get(id)];
    const states = { old: was?.state ?? null, now: is?.state ?? null };
    const alone = { ...place, ...states, sameSubmission: false, measurement: "unknown" as const, causes: [] };
    if (!was) return { ...alone, kind: "added" };
    if (!is) return { ...alone, kind: "removed" };
    const { submission } = is.state;
    const sameSubmission = submission !== null && submission === was.state.submission;
    const pair = { ...place, ...states, sameSubmission };
    if (canonicalJson(was.state) === canonicalJson(is.state))
      return { ...pair, kind: "equal", measurement: "alike", causes: [] };
    return { ...pair, kind: "changed", ...explained({ was, is }, evidence) };
  });
}

/** Why two states differ, and whether they were measured in the same way. */
function explained(
  { was, is }: { was: Placed; is: Placed },
  evidence: ChangeEvidence,
): Pick<ScoreChange, "measurement" | "causes"> {
  const { place } = is;
  const sides = { old: was.report, now: is.report };
  const keys = evidence.keys(place);
  const measuring = [
    ...sideCauses(sides, place),
    ...numberCauses(was.state, is.state),
    ...(keys ?? []).map((key): Cause => ({ kind: "key", ...key })),
    ...(keys ? [] : changedRows(sides, place)),
  ];
  const baseline = baselineCause(was.cell, is.cell) ?? [];
  const causes = [...attemptCauses(was, is), ...measuring].concat(baseline);
  const why = keys
    ? "no part of its keys differs"
    : "these reports name no digests of scorers and data; compare with a run instead";
  if (causes.length === 0) causes.push({ kind: "unknown", why });
  return { causes, measurement: measuredAlike(sides, { place, measuring, known: keys !== undefined }) };
}

type Placed = { place: ScorePlace; state: ScoreState; attempt: Attempt; cell: Cell; report: Report };

function statesOf(report: Report): Map<string, Placed> {
  const attempts = new Map(report.attempts.map((one) => [placeId(one), one]));
  const states = new Map<string, Placed>();
  for (const cell of report.cells) {
    const { task, agent, metric } = cell;
    for (const [at, seed] of cell.seeds.entries()) {
      const attempt = attempts.get(placeId({ task, agent, seed }));
      const score = attempt?.scores[metric];
      if (!attempt || !score) continue;
      const scored = score.kind === "scored" ? score : undefined;
      const state: ScoreState = {
        verdict: attempt.verdict.kind,
        submission: attempt.submission,
        score: score.kind,
        value: scored?.value ?? null,
        standardError: scored?.standardError ?? null,
        items: scored?.items ?? null,
        version: scored?.version ?? null,
        counted: cell.counted[at] ?? null,
      };
      const place = { task, agent, seed, metric };
      states.set(placeId(place), { place, state, attempt, cell, report });
    }
  }
  return states;
}

function placeId({ task, agent, seed, metric }: Omit<ScorePlace, "metric"> & { metric?: string }): string {
  return JSON.stringify([task, agent, seed, metric]);
}

/** What differs for all scores of a metric. */
function sideCauses({ old, now }: Sides, { metric }: ScorePlace): Cause[] {
  const meaning = ({ metrics }: Report) => {
    const { unit = "", direction = "" } = metrics.find(({ name }) => name === metric) ?? {};
    return `${unit}, ${direction} is better`;
  };
  return [...differing("metric", meaning(old), meaning(now)), ...differing("data", old.label, now.label)];
}

function numberCauses(old: ScoreState, now: ScoreState): Cause[] {
  return (["version", "items"] as const).flatMap((kind) => {
    const [was, is] = [old[kind], now[kind]];
    return was === null || is === null || was === is ? [] : [{ kind, old: was, now: is }];
  });
}

function attemptCauses(was: Placed, is: Placed): Cause[] {
  const [old, now] = [was.attempt, is.attempt];
  const presetOf = ({ report, attempt }: Placed) =>
    report.agents.find(({ name }) => name === attempt.agent)?.preset;
  const causes = [
    ...differing("condition", old.condition ?? "unknown", now.condition ?? "unknown"),
    ...fieldCauses("budget", old.budget, now.budget),
    ...fieldCauses("preset", presetOf(was), presetOf(is)),
  ];
  if (old.submission !== now.submission)
    causes.push({ kind: "submission", old: old.submission, now: now.submission });
  const kinds = { old: old.verdict.kind, now: now.verdict.kind };
  if (kinds.old !== kinds.now) causes.push({ kind: "verdict", ...kinds, rules: changedRules(old, now) });
  return causes;
}

function changedRules(old: Attempt, now: Attempt): { rule: string; old: string; now: string }[] {
  const answers = ({ verdict }: Attempt) =>
    new Map(verdict.kind === "missing" ? [] : verdict.rules.map(({ rule, answer }) => [rule, answer]));
  const [before, after] = [answers(old), answers(now)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((rule) => ({ rule, old: before.get(rule) ?? "none", now: after.get(rule) ?? "none" }))
    .filter((one) => one.old !== one.now);
}

/** Undefined if both have the same trivial baseline. */
export function baselineCause(old: Pick<Cell, "baseline">, now: Pick<Cell, "baseline">): Cause | undefined {
  return old.baseline === now.baseline
    ? undefined
    : { kind: "baseline", old: old.baseline, now: now.baseline };
}

function differing(kind: SideField, old: string, now: string): Cause[] {
  return old === now ? [] : [{ kind, old, now }];
}

/** One for each field that differs; none if a report lacks all of them. */
function fieldCauses(kind: "budget" | "preset", old: object = {}, now: object = {}): Cause[] {
  const [before, after] = [new Map(Object.entries(old)), new Map(Object.entries(now))];
  if (before.size === 0 || after.size === 0) return [];
  const text = (name: string, of: Map<string, unknown>) => `${name} ${canonicalJson(of.get(name) ?? null)}`;
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) =>
    differing(kind, text(name, before), text(name, after)),
  );
}

/** Reference models are scored by the same scorer on the same data, so a changed value shows a changed measurement. */
function changedRows({ old, now }: Sides, place: ScorePlace): Cause[] {
  const before = rowsOf(old, place);
  return [...rowsOf(now, place)].flatMap(([name, value]): Cause[] => {
    const was = before.get(name);
    if (was === undefined || was === value) return [];
    return [{ kind: "reference-model", name, old: was, now: value }];
  });
}

function rowsOf({ rows }: Report, { task, metric }: ScorePlace): Map<string, number | null> {
  // a guess is a number that a task declares, so it shows nothing of scorer and data
  const own = rows.filter((row) => row.task === task && row.metric === metric && row.kind !== "guess");
  return new Map(own.map(({ name, value }) => [name, value]));
}

/** Without keys, equal values of a shared reference model show that scorer and data are the same. */
function measuredAlike(
  { old, now }: Sides,
  { place, measuring, known }: { place: ScorePlace; measuring: Cause[]; known: boolean },
): Measurement {
  if (measuring.length > 0) return "otherwise";
  if (known) return "alike";
  const before = rowsOf(old, place);
  const shared = [...rowsOf(now, place)].filter(([name, value]) => value !== null && before.has(name));
  return shared.length > 0 ? "alike" : "unknown";
}

/** Scores of the same files in both reports: a score that was not measured is none. */
export function isScoredTwice({ sameSubmission, old, now }: ScoreChange): boolean {
  return sameSubmission && old?.score !== "not-measured" && now?.score !== "not-measured";
}

/** Another number for the same files. */
export function isRescored(change: ScoreChange): boolean {
  const { old, now } = change;
  if (!isScoredTwice(change) || !old || !now) return false;
  const number = ({ score, value, standardError, items, version }: typeof old) =>
    canonicalJson({ score, value, standardError, items, version });
  return number(old) !== number(now);
}

/** The metric as the newer report describes it. */
export function metricOfEither({ old, now }: Sides, name: string): Report["metrics"][number] {
  const found = [...now.metrics, ...old.metrics].find((metric) => metric.name === name);
  if (!found) throw new Error(`bug: neither report describes the metric ${name}`);
  return found;
}
