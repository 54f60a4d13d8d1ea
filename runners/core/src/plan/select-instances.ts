// Selects stage instances by pattern, with their needs. A collecting stage does not select its members: they count
// as last known or not run, so the report of a narrow selection is still a whole report.
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import type { Instance, Plan } from "./plan.ts";

/**
 * The indices of the instances that match any pattern, and of all their needs, in plan order. A pattern is `stage`
 * or `stage[axis=value,…]` with any of the stage's axes; both may contain `*` and `?`.
 */
export function selectInstances(
  plan: Plan,
  patterns: string[],
): { selected: number[] } | { problems: Diagnostic[] } {
  if (patterns.length === 0) return { selected: plan.instances.map(({ index }) => index) };
  const problems: Diagnostic[] = [];
  const wanted = new Set<number>();
  for (const pattern of patterns) {
    if (isBlankPattern(pattern)) {
      const message = `--only "${pattern}" names no stage`;
      problems.push({
        code: "blank-pattern",
        message,
        help: "leave --only out to select all, or name a stage",
      });
      continue;
    }
    const matches = matcher(pattern);
    const found = plan.instances.filter((instance) => matches(instance.stage.name, instance.axes));
    for (const { index } of found) wanted.add(index);
    if (found.length > 0) continue;
    const stage = pattern.replace(/\[.*$/, "");
    const names = plan.stages.map(({ name }) => name);
    const help = names.includes(stage)
      ? `e.g. ${plan.instances.find((one) => one.stage.name === stage)?.id}`
      : didYouMean(stage, names);
    problems.push({ code: "nothing-selected", message: `no stage instance matches "${pattern}"`, help });
  }
  if (problems.length > 0) return { problems };
  const selected = plan.instances.map(({ index }) => wanted.has(index));
  for (let index = plan.instances.length - 1; index >= 0; index--) {
    if (!selected[index]) continue;
    const { inputs, environment, uses } = plan.instances[index]!;
    for (const { from } of inputs) selected[from] = true;
    if (uses) selected[uses.from] = true;
    if (environment !== undefined) selected[environment] = true;
  }
  return { selected: plan.instances.map(({ index }) => index).filter((index) => selected[index]) };
}

/** A blank pattern would match everything. Most likely a shell variable was empty. */
function isBlankPattern(pattern: string): boolean {
  return /^[\s[\],]*$/.test(pattern);
}

/** The instances that match a pattern, or the one whose id it is. */
export function instancesMatching(plan: Plan, pattern: string): Instance[] {
  const matches = matcher(pattern);
  return plan.instances.filter(({ id, stage, axes }) => id === pattern || matches(stage.name, axes));
}

/** A test for one pattern over a stage's name and axes. */
export function matcher(pattern: string): (stage: string, axes: Record<string, string | number>) => boolean {
  const match = /^([^[\]]*)(?:\[(.*)\])?$/.exec(pattern.trim());
  if (!match) return () => false;
  const stagePattern = glob(match[1] || "*");
  const wanted = (match[2] ?? "")
    .split(",")
    .filter((part) => part.trim() !== "" && part.trim() !== "*")
    .map((part): [string, RegExp] => {
      const at = part.indexOf("=");
      return at < 0 ? [part.trim(), /$^/] : [part.slice(0, at).trim(), glob(part.slice(at + 1).trim())];
    });
  return (stage, axes) =>
    stagePattern.test(stage) &&
    wanted.every(([axis, value]) => Object.hasOwn(axes, axis) && value.test(String(axes[axis])));
}

/** The same for stage instances by their text, without a plan: `attempt[task=a,seed=1]`. */
export function stageMatcher(pattern: string): (stage: string) => boolean {
  const matches = matcher(pattern);
  return (stage) => {
    const [, name = "", inner = ""] = /^([^[]+)(?:\[(.*)\])?$/.exec(stage) ?? [];
    const axes = inner
      .split(",")
      .filter(Boolean)
      .map((part) => part.split("=", 2) as [string, string]);
    return stage === pattern || matches(name, Object.fromEntries(axes));
  };
}

function glob(pattern: string): RegExp {
  const source = RegExp.escape(pattern).replaceAll("\\*", ".*").replaceAll("\\?", ".");
  return new RegExp(`^${source}$`);
}
