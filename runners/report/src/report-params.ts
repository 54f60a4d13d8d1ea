// What the pipeline says of tasks, agents and scorers: tables by name, filled in by the runner from the
// manifests. These are this repository's own, so a wrong one is a mistake in the pipeline and throws.
import type { PublishedValue } from "@mlrb/formats/task";
import type { Direction, Metric } from "./report.ts";

export type ReportParams = {
  title: string;
  label: string;
  taskTitle: (task: string) => string;
  /** The scorer that decides the task; null where the pipeline names none. */
  primary: (task: string) => string | null;
  /** A number, the name of an anchors row, or null where task.yaml gives no floor for the scorer. */
  floor: (task: string, scorer: string) => number | string | null;
  /** The name of the anchors row that is 1 where the floor is 0; null where task.yaml names none. */
  anchorRow: (task: string, scorer: string) => string | null;
  /** What others published on the data that the label names; nothing where task.yaml knows of nothing. */
  published: (task: string, scorer: string) => PublishedValue[];
  agentTitle: (agent: string) => string;
  /** Whether all of the agent's chance comes from the seed; of agents that the pipeline says nothing of, no. */
  seeded: (agent: string) => boolean;
  metric: (scorer: string) => Metric;
};

/** Checks `params` of the report stage. Throws with the parameter's name and what it should be. */
export function reportParams(params: Record<string, unknown>): ReportParams {
  const [tasks, primary, agents, scorers, units, directions] = (
    ["tasks", "primary", "agents", "scorers", "units", "directions"] as const
  ).map((name) => table(params[name], name, isText, "a text")) as Record<string, string>[];
  // Absent where the pipeline has none; a stage's params refuse to be asked for what is not declared.
  const declared = (name: string) => (Object.hasOwn(params, name) ? params[name] : {});
  const digits = table(params.digits, "digits", isDigits, "a whole number from 0 to 20");
  const ranges = table(declared("ranges"), "ranges", isRangeOrNull, "the least and the most, as [0, 1]");
  const floors = table(params.floors, "floors", isTable, "a table of floors by scorer");
  const label = text(params.label, "label");
  const seeded = table(declared("seeded"), "seeded", isYesNo, "true or false");
  const anchorRows = table(declared("anchorRows"), "anchorRows", isTableOrNull, "a table of rows by scorer");
  const published = table(declared("published"), "published", isTableOrNull, "a table by kind of data");
  const direction = (scorer: string): Direction => {
    const found = own(directions!, scorer);
    if (found === "higher" || found === "lower") return found;
    throw new Error(
      `params.directions.${scorer} is ${found ?? "missing"}: say higher or lower in its scorer.yaml`,
    );
  };
  return {
    title: text(params.title, "title"),
    label,
    taskTitle: (task) => own(tasks!, task) ?? task,
    primary: (task) => own(primary!, task) ?? null,
    floor: (task, scorer) => {
      const found = own(own(floors, task) ?? {}, scorer) ?? null;
      if (found === null || typeof found === "string" || Number.isFinite(found))
        return found as number | string | null;
      throw new Error(`params.floors.${task}.${scorer} is neither a number nor the name of an anchors row`);
    },
    anchorRow: (task, scorer) => {
      const found = own(own(anchorRows, task) ?? {}, scorer) ?? null;
      if (found === null || isText(found)) return found;
      throw new Error(`params.anchorRows.${task}.${scorer} is not the name of an anchors row`);
    },
    published: (task, scorer) => {
      const ofKind = own(own(published, task) ?? {}, label) ?? {};
      const found = isTable(ofKind) ? (own(ofKind, scorer) ?? []) : undefined;
      if (Array.isArray(found) && found.every(isPublished)) return found;
      throw new Error(`params.published.${task}.${label} is no table of lists of { who, value, n, source }`);
    },
    agentTitle: (agent) => own(agents!, agent) ?? agent,
    seeded: (agent) => own(seeded, agent) ?? false,
    metric: (scorer) => ({
      name: scorer,
      title: own(scorers!, scorer) ?? scorer,
      unit: own(units!, scorer) ?? "",
      direction: direction(scorer),
      digits: own(digits, scorer) ?? 3,
      range: own(ranges, scorer) ?? null,
    }),
  };
}

const isText = (value: unknown): value is string => typeof value === "string";
/** Null where a preset says nothing. */
const isYesNo = (value: unknown): value is boolean | null => value === null || typeof value === "boolean";
const isDigits = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 20;
const isTable = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);

const isTableOrNull = (value: unknown): value is Record<string, unknown> | null =>
  value === null || isTable(value);
const isRangeOrNull = (value: unknown): value is [number, number | null] | null =>
  value === null ||
  (Array.isArray(value) &&
    value.length === 2 &&
    Number.isFinite(value[0]) &&
    (value[1] === null || Number.isFinite(value[1])));
const isPublished = (value: unknown): value is PublishedValue =>
  isTable(value) && isText(value.who) && isText(value.source) && Number.isFinite(value.value);

function text(value: unknown, name: string): string {
  if (isText(value)) return value;
  throw new Error(`params.${name} is not a text; give it in the pipeline's report stage`);
}

function table<T>(
  value: unknown,
  name: string,
  is: (entry: unknown) => entry is T,
  what: string,
): Record<string, T> {
  if (!isTable(value))
    throw new Error(`params.${name} is not a table by name; give it in the pipeline's report stage`);
  for (const [key, entry] of Object.entries(value)) {
    if (!is(entry)) throw new Error(`params.${name}.${key} is not ${what}`);
  }
  return value as Record<string, T>;
}

function own<T>(table: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
