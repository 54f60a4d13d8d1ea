// An agent with other limits is an agent of its own: `script-strong+twice-time` has twice the time of script-strong.
// Records, tables and `--only` treat it as they treat any agent. Without an allowance nothing changes.
import type { PipelineSpec } from "@mlrb/formats/declared/pipeline";
import { splitAgentName } from "../spec/agent-model.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import type { YamlSource } from "../yaml/yaml-source.ts";
import type { ActionSpec, Execution, PlannedStage } from "./plan.ts";
import type { Axis } from "./resolve-axes.ts";
import type { ResolveContext } from "./resolve-context.ts";
import type { ResolvedProfile } from "./resolve-profile.ts";
import type { StageTexts } from "./stage-texts.ts";

/** Agents whose allowance the pipeline does not declare. */
export function checkAllowances(
  { name, allowances = {} }: PipelineSpec,
  agent: Axis | undefined,
  { profile: { axes }, source }: { profile: ResolvedProfile; source: YamlSource },
): Diagnostic[] {
  return (agent?.values ?? []).flatMap((value) => {
    const { allowance } = splitAgentName(String(value));
    if (allowance === undefined || Object.hasOwn(allowances, allowance)) return [];
    const { spec, path } = axes.agent!;
    const at = Array.isArray(spec) ? spec.indexOf(value) : -1;
    return {
      code: "unknown-allowance",
      message: `${name} has no allowance "${allowance}" for the agent "${value}"`,
      ...(at >= 0 && { place: source.place([...path, at]) }),
      help: didYouMean(allowance, Object.keys(allowances)),
    };
  });
}

type Limits = { budget: ActionSpec["budget"]; execution: Execution };

/**
 * `limits` under the allowance of the stage's agent. Every stage with this agent gets the longer time, since verdicts
 * judge an attempt by it; the attempt alone gets the rest. `price`: dollars of a machine hour.
 */
export function allowedLimits(
  { budget, execution }: Limits,
  { stage, agent, price }: { stage: PlannedStage; agent: string; price: number | undefined },
  { texts, context: { allowances } }: { texts: StageTexts; context: ResolveContext },
): Limits {
  const { allowance = "" } = splitAgentName(agent);
  if (!Object.hasOwn(allowances, allowance)) return { budget, execution };
  const { time = 1, machines = 1, dollars: written } = allowances[allowance]!;
  const { dollars } = texts.amount("dollars", written, ["allowances", allowance, "dollars"]);
  const { gpus, cpus, memoryBytes } = execution.resources;
  const held = gpus > 0 ? gpus * machines : machines;
  const rate = dollars !== undefined && price !== undefined ? price * held : undefined;
  // the machines alone use up the purse by then
  const mostMs = rate === undefined ? Number.POSITIVE_INFINITY : Math.ceil((dollars! / rate) * 3_600_000);
  const timeMs = budget.timeMs && Math.min(Math.round(time * budget.timeMs), mostMs);
  const timed = { ...budget, ...(timeMs !== undefined && { timeMs }) };
  if (!stage.durable) return { budget: timed, execution };
  return {
    budget: {
      ...timed,
      ...(dollars !== undefined && { dollars }),
      ...(machines > 1 && { machines }),
      ...(rate !== undefined && { machineDollarsPerHour: rate }),
    },
    execution: {
      ...execution,
      resources: {
        ...execution.resources,
        ...{ cpus: cpus * machines, memoryBytes: memoryBytes * machines, gpus: gpus * machines },
      },
    },
  };
}
