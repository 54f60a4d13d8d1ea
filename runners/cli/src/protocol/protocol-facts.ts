// The facts that a protocol freezes, from a plan: attempts, metrics, tests, and how each stage makes its results.
import { keyParts } from "@mlrb/core/key/action-key";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import type { Definition, ProtocolFacts } from "@mlrb/formats/report/protocol";
import { canonicalJson } from "@mlrb/kit/json-file";
import { declaredParts } from "@mlrb/local/decide/bind-inputs";
import type { Workspace } from "@mlrb/local/store/workspace";
import { analysisPlan, bestOfPlan, togetherPlan } from "@mlrb/report/protocol/analysis-plan";
import { reportParams } from "@mlrb/report/read/report-params";
import { type NodePlace, nodeOf } from "../show/trace-nodes.ts";
import { comparedParts } from "./compared-parts.ts";

/** The facts of a plan as a run would carry it out now. Runs nothing. */
export async function plannedFacts(plan: Plan, workspace: Workspace): Promise<ProtocolFacts> {
  const made: Made[] = [];
  for (const instance of counted(plan)) {
    const { codeFiles, environment, ...declared } = await declaredParts(instance, { plan, workspace });
    const bound = { ...declared, inputs: {}, environment: environment?.key ?? null };
    made.push({
      instance,
      parts: comparedParts(keyParts(instance, bound), instance.stage.durable ? codeFiles : {}),
    });
  }
  return { ...factsOf(plan), definitions: definitionsOf(made) };
}

/** The same of the stored results. A stage instance without a result is left out. */
export function storedFacts(place: NodePlace): ProtocolFacts {
  const { plan, workspace } = place;
  const made = counted(plan).flatMap((instance): Made[] => {
    const node = nodeOf(instance, place);
    if (typeof node === "string") return [];
    const harness = node.record === null ? {} : workspace.attempts.read(node.record).harness;
    return [{ instance, parts: comparedParts(node.parts, harness) }];
  });
  return { ...factsOf(plan), definitions: definitionsOf(made) };
}

/** Environments are in the keys of the stages that use them. */
function counted({ instances }: Plan): Instance[] {
  return instances.filter(
    ({ stage, execution }) => stage.name !== environmentStage && execution.service === undefined,
  );
}

export function attemptsOf({ instances }: Plan): Instance[] {
  return instances.filter(({ stage }) => stage.role === "attempt");
}

export function placeOf({ axes }: Instance): { task: string; agent: string; seed: string | number } {
  return { task: String(axes.task), agent: String(axes.agent), seed: axes.seed ?? "" };
}

function factsOf(plan: Plan): Omit<ProtocolFacts, "definitions"> {
  const places = attemptsOf(plan).map(placeOf);
  const scores = plan.instances.filter(({ stage }) => stage.role === "score");
  const tasks = [...new Set(places.map(({ task }) => task))];
  const asking = plan.instances.find(
    ({ stage, action: { params } }) => stage.publishes && (params.bestOf || params.arms),
  );
  const asked = asking && reportParams(asking.action.params);
  return {
    arms: armsOf(places),
    tasks: tasks.map((task) => {
      const own = scores.filter(({ axes }) => String(axes.task) === task);
      return {
        ...{ task, primary: primaryOf(plan, task) },
        metrics: [...new Set(own.map(({ axes }) => String(axes.scorer)))],
      };
    }),
    analysis: [...analysisPlan, ...(asked ? [...bestOfPlan(asked, tasks), ...togetherPlan(asked)] : [])],
  };
}

type Place = ReturnType<typeof placeOf>;

export function armsOf(places: Place[]): ProtocolFacts["arms"] {
  const cells = Map.groupBy(places, ({ task, agent }) => JSON.stringify([task, agent]));
  return [...cells.values()].map((own) => ({
    ...{ task: own[0]!.task, agent: own[0]!.agent },
    seeds: own.map(({ seed }) => seed),
  }));
}

/** The report's parameter `primary`, a table of scorers by task. */
function primaryOf({ instances }: Plan, task: string): string | null {
  for (const { stage, action } of instances) {
    if (!stage.publishes) continue;
    const found = new Map(Object.entries(Object(action.params.primary))).get(task);
    if (typeof found === "string") return found;
  }
  return null;
}

type Made = { instance: Instance; parts: Record<string, string> };

/** Instances of a stage with equal parts share a definition. */
function definitionsOf(made: Made[]): Definition[] {
  const groups = Map.groupBy(made, ({ instance, parts }) => canonicalJson([instance.stage.name, parts]));
  return [...groups.values()].map((own) => {
    const { instance, parts } = own[0]!;
    return {
      ...{ stage: instance.stage.name, role: instance.stage.role ?? null, parts },
      instances: own.map((one) => one.instance.id),
    };
  });
}
