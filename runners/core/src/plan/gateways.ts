// Stages whose programs download through a gateway (network: hub), and the stages that say what it withholds.
// Attempts with two kinds of network are two conditions, which no report may hold.
import type { PlannedStage } from "./plan.ts";
import type { ResolveContext } from "./resolve-context.ts";

/** Whether the stage only serves gateways, and no stage that collects it has one. */
export function lacksGateway(stage: PlannedStage, stages: PlannedStage[], context: ResolveContext): boolean {
  if (!stage.spec.withholds) return false;
  return !stages.some(
    ({ name, collect }) =>
      collect.some((one) => one.stage === stage.name) && context.execution(name).network === "hub",
  );
}

/** Reports a gateway of a trusted stage, and one that nothing tells what to withhold. */
export function checkGateways(stages: PlannedStage[], context: ResolveContext): void {
  const withholding = new Set(stages.filter(({ spec }) => spec.withholds).map(({ name }) => name));
  for (const { name, untrusted, collect } of stages) {
    if (context.execution(name).network !== "hub") continue;
    const place = context.source.place(context.written(name, ["network"]));
    if (!untrusted)
      context.problems.push({
        code: "hub-for-trusted",
        message: `"${name}" has network: hub, and is not untrusted`,
        place,
        help: "only the programs of an untrusted stage download through a gateway; write network: full",
      });
    else if (!collect.some(({ stage }) => withholding.has(stage)))
      context.problems.push({
        code: "nothing-withheld",
        message: `"${name}" downloads through a gateway, and no stage says what the gateway withholds`,
        place,
        help: "collect the output of a stage with withholds: true, e.g. of pipelines/steps/withheld.ts",
      });
  }
}

/** Reports a stage that collects attempts with two kinds of network: its means would hold two conditions. */
export function checkConditions(stages: PlannedStage[], context: ResolveContext): void {
  const attempts = stages.filter(({ durable, untrusted }) => durable && untrusted);
  const networkOf = ({ name }: PlannedStage) => context.execution(name).network ?? "none";
  for (const { name, collect } of stages) {
    const collected = attempts.filter((attempt) => collect.some(({ stage }) => stage === attempt.name));
    const [first, ...others] = collected;
    const other = others.find((one) => networkOf(one) !== networkOf(first!));
    if (!first || !other) continue;
    context.problems.push({
      code: "two-conditions",
      message: `"${name}" collects "${first.name}" with network: ${networkOf(first)}, and "${other.name}" with network: ${networkOf(other)}`,
      place: context.source.place(context.written(other.name, ["network"])),
      help: "no mean may hold attempts of two conditions: give both stages one network, or use a profile for each",
    });
  }
}
