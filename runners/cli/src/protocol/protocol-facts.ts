// The facts that a protocol freezes, from a plan: attempts, metrics, tests, and how each stage makes its results.
import { createHash } from "node:crypto";
import { keyParts } from "@mlrb/core/key/action-key";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import type { Definition, ProtocolFacts } from "@mlrb/formats/report/protocol";
import type { KeyParts } from "@mlrb/formats/stage/action";
import { canonicalJson } from "@mlrb/kit/json-file";
import { declaredParts } from "@mlrb/local/decide/bind-inputs";
import type { Workspace } from "@mlrb/local/store/workspace";
import { analysisPlan } from "@mlrb/report/protocol/analysis-plan";
import { nodeOf } from "../show/trace-nodes.ts";
import { commitOfProgram } from "./commit-of-program.ts";

/** The facts of a plan as a run would carry it out now. Runs nothing. */
export async function plannedFacts(plan: Plan, workspace: Workspace): Promise<ProtocolFacts> {
  const made: Made[] = [];
  for (const instance of counted(plan)) {
    const { codeFiles: _, environment, ...declared } = await declaredParts(instance, { plan, workspace });
    const bound = { ...declared, inputs: {}, environment: environment?.key ?? null };
    made.push({ instance, parts: keyParts(instance, bound) });
  }
  return { ...factsOf(plan), definitions: definitionsOf(made) };
}

/** The same of the stored results. A stage instance without a result is left out. */
export function storedFacts(plan: Plan, workspace: Workspace): ProtocolFacts {
  const made = counted(plan).flatMap((instance): Made[] => {
    const node = nodeOf(instance, plan, workspace);
    return typeof node === "string" ? [] : [{ instance, parts: node.parts }];
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
  const cells = Map.groupBy(places, ({ task, agent }) => JSON.stringify([task, agent]));
  const scores = plan.instances.filter(({ stage }) => stage.role === "score");
  return {
    commit: commitOfProgram(),
    arms: [...cells.values()].map((own) => ({
      ...{ task: own[0]!.task, agent: own[0]!.agent },
      seeds: own.map(({ seed }) => seed),
    })),
    tasks: [...new Set(places.map(({ task }) => task))].map((task) => {
      const own = scores.filter(({ axes }) => String(axes.task) === task);
      return {
        ...{ task, primary: primaryOf(plan, task) },
        metrics: [...new Set(own.map(({ axes }) => String(axes.scorer)))],
      };
    }),
    analysis: analysisPlan,
  };
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

type Made = { instance: Instance; parts: KeyParts };

/** Instances of a stage with equal parts share a definition. */
function definitionsOf(made: Made[]): Definition[] {
  const groups = Map.groupBy(made, ({ instance, parts }) =>
    canonicalJson([instance.stage.name, flat(parts)]),
  );
  return [...groups.values()].map((own) => {
    const { instance, parts } = own[0]!;
    return {
      ...{ stage: instance.stage.name, role: instance.stage.role ?? null, parts: flat(parts) },
      instances: own.map((one) => one.instance.id),
    };
  });
}

/** Variables that repeat the axes. */
const ofAxes = new Set(["MLRB_TASK", "MLRB_SEED"]);

/** The parts of a key by name, without its inputs, its axes and the host. */
function flat(parts: KeyParts): Record<string, string> {
  const { run, code, files, params, outputs, env, agentEnv = {}, budget, ...rest } = parts;
  const { environment, network, image } = rest;
  const variables = Object.entries({ ...agentEnv, ...env }).filter(([name]) => !ofAxes.has(name));
  const named = (what: string, table: object) =>
    Object.entries(table).map(([name, value]) => [`${what} ${name}`, shortValue(value)] as const);
  return Object.fromEntries([
    ["run", shortValue(run.kind === "command" ? run.command : run.file)],
    ...[...named("code", code), ...named("file", files), ...named("parameter", params)],
    ...[...named("output", outputs), ...named("variable", Object.fromEntries(variables))],
    ...named("budget", budget),
    ...Object.entries({ environment, network, image }).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as const] : [],
    ),
  ]);
}

const shownMax = 60;

/** A short value as it is, a long one by its SHA-256. */
function shortValue(value: unknown): string {
  const text = typeof value === "string" ? value : canonicalJson(value);
  return text.length <= shownMax ? text : createHash("sha256").update(text).digest("hex");
}
