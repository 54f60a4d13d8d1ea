// The files that a report reads, from text to checked data.
import type { Item } from "@mlrb/core/statistics/ratio-estimate";
import {
  asArray,
  asNumber,
  asObject,
  asOneOf,
  asTable,
  asText,
  type Fields,
  malformed,
  type Parsed,
  parsed,
  parseObject,
} from "./parsed.ts";
import { plainText } from "./plain-text.ts";
import type { AttemptScore, AttemptVerdict, Metric, Moment, RowValue, Rule, Seed } from "./report.ts";

export type Verdict = Exclude<AttemptVerdict, { kind: "missing" }>;

export type AnchorRow = { name: string; title: string } & RowValue;

/** A score of `metric`; one of another scorer, unit or direction is foreign and unreadable. */
export function parseScore(text: string, metric: Metric): Parsed<AttemptScore> {
  return parsed(() => {
    const fields = parseObject(text);
    const expected = { scorer: metric.name, unit: metric.unit, direction: metric.direction };
    for (const [name, value] of Object.entries(expected)) {
      if (asText(fields[name], name) !== value) malformed(`its ${name} is not "${value}"`);
    }
    const version = asNumber(fields.version, "version");
    if (asOneOf(fields.kind, "kind", ["scored", "rejected"]) === "rejected") {
      return { kind: "rejected", reason: asText(fields.reason, "reason") };
    }
    return {
      kind: "scored",
      value: inRange(asNumber(fields.value, "value"), metric),
      standardError: asNumber(fields.standardError, "standardError", 0),
      items: asNumber(fields.items, "items", 0),
      groups: asTable(fields.groups, "groups", (group, what) => {
        const { value, items } = asObject(group, what);
        return { value: asNumber(value, `${what}.value`), items: asNumber(items, `${what}.items`, 0) };
      }),
      extra: asTable(fields.extra, "extra", (value, what) => asNumber(value, what)),
      version,
    };
  });
}

/** Sums of many items may end a little beyond the range: sacrebleu gives 100.00000000000004. */
function inRange(value: number, { range }: Metric): number {
  if (range === null) return value;
  const [least, most] = range;
  const slack = 1e-6 * Math.max(1, Math.abs(least), Math.abs(most ?? 0));
  if (value < least - slack) malformed(`value is ${value}, and the least it can be is ${least}`);
  if (most !== null && value > most + slack)
    malformed(`value is ${value}, and the most it can be is ${most}`);
  return value;
}

/** Samples, one JSON object a line. Ids and groups are kept whole: they are compared, not shown. What a
 * line says of its cluster stands before its group: items of one group may be independent, of one cluster not. */
export function parseSamples(text: string): Parsed<Item[]> {
  return parsed(() => {
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    return lines.map((line, index) => {
      // words are made only for what is wrong: there are millions of lines
      const at = (what: string) => `line ${index + 1}: ${what}`;
      const { id, group, cluster, value, weight } = parseObject(line, false);
      if (typeof id !== "string") malformed(at("id is not a text"));
      if (group !== undefined && typeof group !== "string") malformed(at("group is not a text"));
      if (cluster !== undefined && typeof cluster !== "string") malformed(at("cluster is not a text"));
      const pull = isNumber(value) ? value : asNumber(value, at("value"));
      const share = isNumber(weight) && weight >= 0 ? weight : asNumber(weight, at("weight"), 0);
      const together = cluster ?? group;
      return together === undefined
        ? { id, value: pull, weight: share }
        : { id, value: pull, weight: share, group: together };
    });
  });
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);

/** A verdict; one whose kind its own rules contradict is unreadable. */
export function parseVerdict(text: string): Parsed<Verdict> {
  return parsed(() => {
    const fields = parseObject(text);
    const kind = asOneOf(fields.kind, "kind", ["pass", "struck", "rejected"]);
    const rules = asArray(fields.rules, "rules").map((rule, index) => asRule(rule, `rules.${index}`));
    const broken = rules.find((rule) => rule.answer === "fail" && rule.severity === "strike");
    if (kind === "pass" && broken) malformed(`it says pass, yet the rule ${broken.rule} failed`);
    const facts = asTable(fields.facts, "facts", (value, what) =>
      typeof value === "string" ? asText(value, what) : asNumber(value, what),
    );
    return { kind, rules, facts };
  });
}

function asRule(rule: unknown, at: string): Rule {
  const { rule: name, title, answer, evidence, source, severity } = asObject(rule, at);
  return {
    rule: asText(name, `${at}.rule`),
    title: asText(title, `${at}.title`),
    answer: asOneOf(answer, `${at}.answer`, ["pass", "fail", "cannot-tell"]),
    evidence: asText(evidence, `${at}.evidence`),
    source: asText(source, `${at}.source`),
    severity: asOneOf(severity, `${at}.severity`, ["strike", "note"]),
  };
}

/** The further rules of each attempt of a task, by agent and seed. */
export function parseKinship(text: string): Parsed<{ agent: string; seed: Seed; rules: Rule[] }[]> {
  return parsed(() =>
    asArray(parseObject(text).attempts, "attempts").map((attempt, index) => {
      const at = `attempts.${index}`;
      const { agent, seed, rules } = asObject(attempt, at);
      return {
        agent: asText(agent, `${at}.agent`),
        seed: typeof seed === "number" ? asNumber(seed, `${at}.seed`) : asText(seed, `${at}.seed`),
        rules: asArray(rules, `${at}.rules`).map((rule, place) => asRule(rule, `${at}.rules.${place}`)),
      };
    }),
  );
}

/** What stood at a moment, and whether it may be loaded. */
export function parseMoment(text: string): Parsed<Exclude<Moment["admission"], { kind: "missing" }>> {
  return parsed(() => {
    const fields = parseObject(text);
    const stood = asObject(fields.stood, "stood");
    if (asOneOf(stood.kind, "stood.kind", ["none", "snapshot", "final"]) === "none") return { kind: "none" };
    if (fields.admitted === true) return { kind: "admitted" };
    const reasons = asArray(fields.reasons, "reasons").map((reason, index) =>
      asText(asObject(reason, `reasons.${index}`).detail, `reasons.${index}.detail`),
    );
    if (reasons.length === 0) malformed("it is not admitted, and says not why");
    return { kind: "rejected", why: plainText(reasons.join("; ")) };
  });
}

/** The anchors' rows for one scorer, no name twice. */
export function parseAnchors(text: string, scorer: string): Parsed<AnchorRow[]> {
  return parsed(() => {
    const fields = parseObject(text);
    if (fields.scorer !== scorer) malformed(`its scorer is not "${scorer}"`);
    const rows = asArray(fields.rows, "rows").map((row, index) => {
      const at = `rows.${index}`;
      const { name, title, ...measured } = asObject(row, at);
      return {
        name: asText(name, `${at}.name`),
        title: asText(title, `${at}.title`),
        ...rowValue(measured, at),
      };
    });
    const names = new Set(rows.map((row) => row.name));
    if (names.size !== rows.length) malformed("a row's name stands twice");
    return rows;
  });
}

function rowValue({ value, standardError, rejected }: Fields, at: string): RowValue {
  if (rejected === undefined) {
    return {
      value: asNumber(value, `${at}.value`),
      standardError: standardError === undefined ? null : asNumber(standardError, `${at}.standardError`, 0),
      rejected: null,
    };
  }
  if (value !== undefined) malformed(`${at} has a value, and is rejected`);
  return { value: null, standardError: null, rejected: asText(rejected, `${at}.rejected`) };
}
