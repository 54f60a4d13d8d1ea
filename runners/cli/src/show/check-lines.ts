// What a plan's attempts wait for: checks of reference models, what is expected of them, and what happens without.
// Pure: no disk, no clock.
import { type Instance, instanceId, type Plan } from "@mlrb/core/plan/plan";
import { counted } from "@mlrb/core/text/counted";
import type { Expectation } from "@mlrb/formats/declared/task";
import { isTable } from "@mlrb/formats/is-table";
import { expectedText } from "@mlrb/kit/check-reference";

type Started = { index: number }[];

/** The checks that `started` wait for, how many start although checks are left out, and the places that have none of their own. */
export function checkedBefore(plan: Plan, started: Started) {
  const { instances } = plan;
  const durable = started.map(({ index }) => instances[index]!).filter(({ stage }) => stage.durable);
  const waiting = [...new Set(durable.flatMap(({ checks = [] }) => checks))].sort((a, b) => a - b);
  const skipped = durable.filter(({ skippedChecks }) => skippedChecks !== undefined).length;
  // without any check, only attempts that need one say so
  const isPlanned = waiting.length > 0 || skipped > 0;
  const without = new Set(
    durable.flatMap((instance) => (isPlanned ? lacking(instance, plan) : (instance.undeclaredChecks ?? []))),
  );
  return { first: waiting.map((index) => instances[index]!.id), skipped, without: [...without] };
}

/** The checks at its place that its stage starts after, and that are neither planned nor left out. */
function lacking(
  { stage, axes, checks = [], skippedChecks = [] }: Instance,
  { stages, instances }: Plan,
): string[] {
  const known = new Set([...checks.map((index) => instances[index]!.id), ...skippedChecks]);
  const own = (stage.spec.startAfter ?? []).map((name) => {
    const { each } = stages.find((one) => one.name === name)!;
    return instanceId(name, Object.fromEntries(each.map((axis) => [axis, axes[axis]!])));
  });
  return own.filter((id) => !known.has(id));
}

export function checkLines(plan: Plan, started: Started): string[] {
  const { first, skipped, without } = checkedBefore(plan, started);
  const lines: string[] = [];
  if (skipped > 0)
    lines.push(
      `${counted(skipped, "attempt")} would start without a check of reference models (--skip-reference-models); the tables say so`,
    );
  const none = "no reference model is declared; the attempts there start";
  if (first.length === 0 && skipped === 0)
    return without.map((id) => `${id}: ${none} without a check, and the tables say so`);
  if (first.length === 0) return lines;
  const byId = new Map(plan.instances.map((instance) => [instance.id, instance]));
  return [
    ...lines,
    "attempts start after a check of reference models on this host:",
    ...first.flatMap((id) => expectedLines(byId.get(id)!)).map((line) => `  ${line}`),
    ...without.map((id) => `  ${id}: ${none} after all checks`),
    "  where a model misses its value, no attempt starts, nor one without a check of its own; other tasks go on. --skip-reference-models leaves the checks out, and the tables then say so",
  ];
}

/** `reference-check[task=…]: phi-2 (mmlu) 0.555 to 0.577`, by what the check's parameter `expected` says. */
function expectedLines({ id, action: { params } }: Instance): string[] {
  if (!isTable(params.expected)) return [id];
  return Object.entries(params.expected).flatMap(([scorer, rows]) =>
    isTable(rows)
      ? Object.entries(rows).map(
          ([row, expected]) => `${id}: ${row} (${scorer}): ${expectedText(expected as Expectation)}`,
        )
      : [],
  );
}
