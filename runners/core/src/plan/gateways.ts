// Stages whose programs download through a gateway (network: hub), and the stages that say what it withholds.
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
