// Counts the instances of a plan before it is expanded. Axes multiply, and a slip in a list of seeds must be a
// diagnostic, not hours of work or a full memory. Pure: no disk, no clock.
import type { Diagnostic } from "../yaml/diagnostic.ts";
import type { YamlSource } from "../yaml/yaml-source.ts";
import type { PlannedStage } from "./plan.ts";
import type { Axis } from "./resolve-axes.ts";

/** Over all stages of a plan. */
const instancesMax = 1_000_000;

/** Members that collecting stages read, counted once for each instance that reads them. */
const membersMax = 10_000_000;

/** The number of combinations of the axes' values. A bigint, since forty axes of two values exceed a safe number. */
export function combinations(each: readonly string[], axes: ReadonlyMap<string, Axis>): bigint {
  const names = [...new Set(each)].filter((name) => axes.has(name));
  const factor = (name: string): bigint => {
    const { values } = axes.get(name)!;
    const dependent = names.filter((other) => axes.get(other)!.of === name).map((other) => axes.get(other)!);
    if (dependent.length === 0) return BigInt(values.length);
    return values.reduce((sum, value) => sum + product(dependent.map((one) => countFor(one, value))), 0n);
  };
  return product(names.filter((name) => !names.includes(axes.get(name)!.of ?? "")).map(factor));
}

function countFor({ values, valuesOf }: Axis, parent: string | number): bigint {
  return BigInt((valuesOf ? (valuesOf.get(parent) ?? []) : values).length);
}

function product(factors: bigint[]): bigint {
  return factors.reduce((all, one) => all * one, 1n);
}

/** The problem of a plan that is too large; undefined if it can be expanded. */
export function checkCount(
  stages: readonly PlannedStage[],
  { axes, source }: { axes: ReadonlyMap<string, Axis>; source: YamlSource },
): Diagnostic | undefined {
  const eachOf = new Map(stages.map(({ name, each }) => [name, each]));
  const instances = stages.map((stage) => ({ stage, list: "each", count: combinations(stage.each, axes) }));
  const members = stages.map((stage) => {
    // a member and its reader agree in the axes that both have
    const pairs = stage.collect.map(({ stage: from }) =>
      combinations([...stage.each, ...(eachOf.get(from) ?? [])], axes),
    );
    return { stage, list: "collect", count: pairs.reduce((sum, count) => sum + count, 0n) };
  });
  for (const [counted, max, what] of [
    [instances, instancesMax, "stage instances"],
    [members, membersMax, "members to collect"],
  ] as const) {
    const total = counted.reduce((sum, { count }) => sum + count, 0n);
    if (total <= max) continue;
    const most = counted.reduce((a, b) => (b.count > a.count ? b : a));
    const each = [
      ...new Set([...most.stage.each, ...most.stage.collect.flatMap((one) => eachOf.get(one.stage) ?? [])]),
    ];
    const sizes = (most.list === "each" ? most.stage.each : each)
      .filter((axis) => axes.has(axis))
      .map((axis) => `${axis} (${axes.get(axis)!.values.length})`);
    return {
      code: "too-many-instances",
      message: `the plan would have ${grouped(total)} ${what}, ${grouped(most.count)} of them of "${most.stage.name}" over ${listed(sizes)}; at most ${grouped(BigInt(max))} can be planned`,
      place: source.place(["stages", most.stage.name, most.list]),
      help: "shorten an axis, narrow one with --set, or leave one out of each",
    };
  }
  return undefined;
}

function grouped(count: bigint): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, " ");
}

/** The first eight axes only, to keep the message short. */
function listed(sizes: string[]): string {
  const more = sizes.length > 8 ? ` × ${sizes.length - 8} more axes` : "";
  return `${sizes.slice(0, 8).join(" × ")}${more}`;
}
