// What a stage instance's result was made from, as stored: script, parameters, inputs and host, and the same for
// all of its inputs. That is the result which a run of the plan would reuse, else the last success. The plan is
// used only to find which instance made an input.

import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import type { KeyParts } from "@mlrb/formats/stage/action";
import { logPath } from "@mlrb/local/stage/log-path";
import type { Workspace } from "@mlrb/local/store/workspace";
import { valueText } from "./shorten.ts";

export type TraceNode = Exclude<ReturnType<typeof nodeOf>, string>;

export type Trace = {
  nodes: TraceNode[];
  /** Instances upstream without a stored result, with the reason. */
  missing: { stage: string; why: string }[];
};

/**
 * Action keys by plan index, of what a run of the plan would reuse. The last success is not enough: one of another
 * `--set` has other members under the same name, for a report e.g. other attempts.
 */
export type ReusedKeys = ReadonlyMap<number, string>;

export function reusedKeys(found: readonly { index: number; key?: string | undefined }[]): ReusedKeys {
  return new Map(found.flatMap(({ index, key }) => (key === undefined ? [] : [[index, key] as const])));
}

/** Without `reused`: the last success, as right after a run of the plan. */
export type NodePlace = { plan: Plan; workspace: Workspace; reused?: ReusedKeys };

/** The instance itself first, then its inputs, each once. Environments are left out: keys name them. */
export function traceOf(index: number, place: NodePlace): Trace {
  const trace: Trace = { nodes: [], missing: [] };
  const seen = new Set<number>();
  const queue = [index];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    const instance = place.plan.instances[at]!;
    if (seen.has(at) || instance.stage.name === environmentStage) continue;
    seen.add(at);
    const node = nodeOf(instance, place);
    if (typeof node === "string") trace.missing.push({ stage: instance.id, why: node });
    else trace.nodes.push(node);
    queue.push(...instance.inputs.map(({ from }) => from));
  }
  return trace;
}

/** The node of one instance; a text is the reason that there is none. */
export function nodeOf(instance: Instance, { plan, workspace, reused }: NodePlace) {
  const last = workspace.last.get(instance.id);
  const key = reused?.get(instance.index) ?? last?.key;
  const found = instance.stage.durable
    ? attemptOf(instance, plan, workspace)
    : key && actionOf(key, workspace);
  if (!found)
    return last ? "it succeeded, but its entry is no longer in the cache" : "it has not succeeded here";
  const origins = new Map(instance.inputs.map((input) => [input.name, input]));
  const inputs = Object.entries(found.parts.inputs).map(([name, digest]) => {
    const origin = origins.get(name);
    const from = origin ? plan.instances[origin.from]!.id : "not in this plan";
    return { name, digest, from, output: origin?.output ?? name };
  });
  const log = logPath(workspace.state.logs, instance.id);
  const { run } = found.parts;
  // an attempt's key does not contain its script: only today's plan names it
  const nameless = run.kind !== "command" && run.file === "";
  return { stage: instance.id, run: nameless ? instance.action.run : run, inputs, log, ...found };
}

function actionOf(key: string, { actions }: Workspace) {
  const entry = actions.get(key);
  return entry && { key, record: null, parts: entry.parts, outputs: entry.outputs, ran: entry.ran };
}

/** The attempt last used, from any slot; if the cache is gone, the one of its own slot. */
function attemptOf({ id }: Instance, plan: Plan, { attempts, last }: Workspace) {
  const used = last.get(id);
  const held = (used && attempts.find(used.key)) ?? attempts.inSlot({ ...plan, stage: id });
  if (!held) return undefined;
  const { attemptKey, parts, outputs, ran } = held.record;
  return { key: attemptKey, record: held.digest, parts, outputs, ran };
}

const valueMax = 300;

/** Parameters as the page shows them: long values are cut. */
export function shownParams(params: KeyParts["params"]): { name: string; value: string }[] {
  return Object.entries(params).map(([name, value]) => ({ name, value: valueText(value, valueMax) }));
}
