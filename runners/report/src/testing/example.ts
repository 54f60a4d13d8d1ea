// A made-up run for tests, built from the outcome of each attempt: a manifest as the runner writes it, and the
// artifacts' texts by path.

import type { MemberDecision } from "@mlrb/formats/attempt/adjudication";
import type { Built } from "@mlrb/formats/judged/built";
import type { ReferenceKind } from "@mlrb/formats/judged/references";
import type { Reading } from "@mlrb/formats/read-format";
import type { Collected, Member } from "@mlrb/formats/stage/collected";
import type { ReadText } from "../read/read-artifact.ts";
import { reportData } from "../read/report-data.ts";

/** Roles of stages whose names differ from them. */
const roles: Record<string, string> = { validate: "verdict", generate: "answers" };
const roleOf = (name: string) => roles[name] ?? name;

export class Example {
  readonly members: Member[] = [];
  readonly texts = new Map<string, Reading<string>>();
  readonly params: Record<string, unknown>;

  constructor(params: Record<string, unknown> = {}) {
    this.params = { ...exampleParams, ...params };
  }

  /** A member that succeeded; `artifacts` are texts, or values to write as JSON. */
  gives(name: string, axes: Member["axes"], artifacts: Record<string, unknown>): this {
    const stage = stageText(name, axes);
    const entries = Object.entries(artifacts).map(([artifact, content]) => {
      const path = `${stage}/${artifact}`;
      const text = typeof content === "string" ? content : JSON.stringify(content);
      this.texts.set(path, { kind: "ok", value: text });
      const digest = /^(submission|contents)$/.test(artifact) ? text : `sha256:${artifact}`;
      return [artifact, { digest, kind: "file" as const, path }] as const;
    });
    this.members.push({
      stage,
      name,
      role: roleOf(name),
      axes,
      outcome: "succeeded",
      cause: "",
      artifacts: Object.fromEntries(entries),
    });
    return this;
  }

  /** Adds people's decisions to an attempt that succeeded; each counts unless it says otherwise. */
  decided(axes: Member["axes"], ...decisions: (Partial<MemberDecision> & { rule: string })[]): this {
    const stage = stageText("attempt", axes);
    const member = this.members.find((one) => one.stage === stage)!;
    member.decisions = decisions.map((one) => ({
      ...{ verdict: "pass", by: "Ada", reason: "looked at it", counts: true },
      ...one,
    }));
    return this;
  }

  /** Plans every attempt so far in this condition and with this budget. */
  planned(plan: Required<Pick<Member, "condition" | "budget">>): this {
    for (const member of this.members) if (member.role === "attempt") Object.assign(member, plan);
    return this;
  }

  /** Adds to an attempt's verdict what it built. */
  built(axes: Member["axes"], built: Built): this {
    const path = `${stageText("validate", axes)}/verdict`;
    const verdict = this.texts.get(path);
    if (verdict?.kind !== "ok") throw new Error(`${path} has no verdict`);
    this.texts.set(path, { kind: "ok", value: JSON.stringify({ ...JSON.parse(verdict.value), built }) });
    return this;
  }

  fails(name: string, axes: Member["axes"], outcome: Member["outcome"], cause: string): this {
    this.members.push({
      stage: stageText(name, axes),
      name,
      role: roleOf(name),
      axes,
      outcome,
      cause,
      artifacts: {},
    });
    return this;
  }

  get collected(): Collected {
    return { formatVersion: 1, members: this.members };
  }

  read: ReadText = ({ path }) => this.texts.get(path) ?? { kind: "unreadable", cause: "ENOENT" };

  report(members = this.members) {
    return reportData({ formatVersion: 1, members }, { params: this.params, read: this.read });
  }
}

function stageText(name: string, axes: Member["axes"]): string {
  return `${name}[${Object.entries(axes)
    .map(([axis, value]) => `${axis}=${value}`)
    .join(",")}]`;
}

function exampleRule(severity: "disqualify" | "note") {
  return { name: "from-scratch", title: "Trained from scratch", method: "m", source: "official", severity };
}

export const exampleParams = {
  title: "Letters and Numbers",
  label: "smoke",
  tasks: { letters: "Learning letters", numbers: "Learning numbers" },
  primary: { letters: "bits", numbers: "right" },
  baselines: { letters: { bits: "unigram", pairs: 0.5 }, numbers: { right: "majority" } },
  referenceRows: { letters: { bits: "bigram", pairs: "trigram" }, numbers: { right: "best" } },
  published: {
    letters: { official: { bits: [{ who: "Someone", value: 2.1, n: 4, note: "of 5", source: "a paper" }] } },
    numbers: null,
  },
  rules: {
    letters: [exampleRule("disqualify"), exampleRule("disqualify"), exampleRule("note")],
    numbers: [],
  },
  agents: { plain: "Plain baseline", strong: "Strong baseline" },
  presets: {
    plain: { kind: "command", provider: null, model: null, planner: null, turnsMax: null },
    strong: {
      ...{ kind: "llm", scaffold: "mlrb-2024", turnsMax: 300 },
      ...{ provider: "openai", model: { id: "gpt-4o" }, planner: { provider: "openai", id: "gpt-4o-mini" } },
    },
  },
  scorers: { bits: "bits per byte of held-out text", pairs: "minimal pairs", right: "right answers" },
  units: { bits: "bits/byte", pairs: "share of pairs", right: "share of answers" },
  directions: { bits: "lower", pairs: "higher", right: "higher" },
  digits: { bits: 3, pairs: 3, right: 3 },
  ranges: { bits: [0, null], pairs: [0, 1], right: [0, 1] },
};

export type ItemValue = { id: string; value: number; weight: number; group?: string };

/** A score and its samples over `items`. */
export function scored(scorer: "bits" | "pairs" | "right", items: ItemValue[], standardError = 0.03) {
  const sum = (field: "value" | "weight") => items.reduce((total, item) => total + item[field], 0);
  return {
    score: {
      ...scoreHead(scorer),
      kind: "scored",
      value: sum("value") / sum("weight"),
      standardError,
      items: items.length,
      groups: groupsOf(items),
      extra: {} as Record<string, number>,
    },
    samples: items.map((item) => `${JSON.stringify(item)}\n`).join(""),
  };
}

function groupsOf(items: ItemValue[]) {
  const grouped = items.filter(({ group }) => group !== undefined);
  return Object.fromEntries(
    [...Map.groupBy(grouped, ({ group }) => group!)].map(([group, own]) => [
      group,
      { value: own.reduce((sum, { value }) => sum + value, 0) / own.length, items: own.length },
    ]),
  );
}

/** The output of the stage `iterations` for an attempt. */
export function researched(
  measures: Record<string, unknown> = {},
  ends: Record<string, unknown>[] = [],
  actions: string | null = null,
  change: string | null = null,
) {
  const none = {
    executedIterations: 1,
    firstValidMs: null,
    firstValidBy: "admitted",
    distinctValid: 1,
    runs: { ended: 3, failed: 1, measured: 2 },
    limits: [],
    metric: null,
    values: [],
    predictionError: null,
    predictions: 0,
    benchmarkCalls: { kind: "not-measured", reason: "no-tool-calls" },
  };
  const iterations = change === null ? [] : [{ ...exampleIteration, change }];
  const lists = { iterations, iterationsMore: 0, malformedLines: 0 };
  return {
    iterations: {
      formatVersion: 1,
      kind: "found",
      actions,
      ...lists,
      ends,
      measures: { ...none, ...measures },
    },
  };
}

const exampleIteration = {
  ...{ formatVersion: 1, id: "1", parent: null, time: "2026-01-01T00:00:00.000Z", sinceStartMs: 0 },
  ...{ hypothesis: null, command: null, metric: null, predicted: null, decision: null },
  cost: { wallMs: 1, tokens: null, dollars: null },
  ...{ source: "agent", executed: true, changed: true, counts: true, events: [0, 1] },
};

export function rejectedScore(scorer: "bits" | "pairs" | "right", reason: string) {
  return { score: { ...scoreHead(scorer), kind: "rejected", reason }, samples: "" };
}

function scoreHead(scorer: "bits" | "pairs" | "right") {
  const { units, directions } = exampleParams;
  return { formatVersion: 1, scorer, version: 1, unit: units[scorer], direction: directions[scorer] };
}

type Row = { name: string; kind?: ReferenceKind; parameters?: number } & (
  | { value: number; standardError?: number }
  | { rejected: string }
);

export function referenceRows(scorer: string, rows: Row[]) {
  const titled = rows.map((row) => ({ kind: "n-gram", ...row, title: `the ${row.name} model` }));
  return { rows: { formatVersion: 1, scorer, rows: titled } };
}

export const passed = {
  verdict: { formatVersion: 1, kind: "pass", rules: [], facts: { parameters: 500_000 } },
};

export function verdict(kind: string, rule: Record<string, string> = {}): { verdict: object } {
  const whole = {
    rule: "from-scratch",
    title: "Trained from scratch",
    answer: "fail",
    evidence: "equals known weights",
    source: "official",
    severity: "disqualify",
    ...rule,
  };
  return { verdict: { formatVersion: 1, kind, rules: [whole], facts: {} } };
}

/** Items of `bits` with mean about `level`, the same difficulty profile whatever the level. */
export function textItems(level: number, wobble = 0): ItemValue[] {
  return Array.from({ length: 25 }, (_, index) => ({
    id: `document-${index}`,
    value: 4096 * (level + 0.15 * Math.sin(index) + wobble * Math.cos(3 * index)),
    weight: 4096,
  }));
}

/** `right` of `count` items answered. */
export function pairItems(right: number, count = 200, group?: (index: number) => string): ItemValue[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `pair-${index}`,
    value: (index * 7) % count < right ? 1 : 0,
    weight: 1,
    ...(group ? { group: group(index) } : {}),
  }));
}
