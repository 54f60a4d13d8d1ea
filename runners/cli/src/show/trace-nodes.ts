// What stands behind a stage instance's last success, as it was kept: what it ran, with what, where; and the
// same of everything it read. The plan tells only who gave what.

import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import type { KeyParts, Ran } from "@mlrb/formats/stage/action";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { logPath } from "@mlrb/local/stage/log-path";
import type { Workspace } from "@mlrb/local/store/workspace";

export type TraceNode = {
  stage: string;
  key: string;
  /** Digest of the attempt's record, for an attempt. */
  record: string | null;
  run: KeyParts["run"];
  parts: KeyParts;
  inputs: { name: string; digest: string; from: string; output: string }[];
  outputs: Record<string, Artifact>;
  ran: Ran;
  /** Where what it said was kept, if it still is. */
  log: string;
};

export type Trace = {
  nodes: TraceNode[];
  /** Instances behind it of which nothing is kept, with the reason in words. */
  missing: { stage: string; why: string }[];
};

/** Of `index` first, then of what it read, each once; environments are named by their keys and left out. */
export function traceOf(index: number, plan: Plan, workspace: Workspace): Trace {
  const trace: Trace = { nodes: [], missing: [] };
  const seen = new Set<number>();
  const queue = [index];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    const instance = plan.instances[at]!;
    if (seen.has(at) || instance.stage.name === environmentStage) continue;
    seen.add(at);
    const node = nodeOf(instance, plan, workspace);
    if (typeof node === "string") trace.missing.push({ stage: instance.id, why: node });
    else trace.nodes.push(node);
    queue.push(...instance.inputs.map(({ from }) => from));
  }
  return trace;
}

/** Of one instance; a text is why there is nothing to tell. */
export function nodeOf(instance: Instance, plan: Plan, workspace: Workspace): TraceNode | string {
  const last = workspace.last.get(instance.id);
  const found = instance.stage.durable
    ? attemptOf(instance, plan, workspace)
    : last && actionOf(last.key, workspace);
  if (!found)
    return last ? "it succeeded, but its entry is no longer in the cache" : "it has not succeeded here";
  const origins = new Map(instance.inputs.map((input) => [input.name, input]));
  const inputs = Object.entries(found.parts.inputs).map(([name, digest]) => {
    const origin = origins.get(name);
    const from = origin ? plan.instances[origin.from]!.id : "not in this plan";
    return { name, digest, from, output: origin?.output ?? name };
  });
  const log = last?.log ?? logPath(workspace.state.logs, instance.id);
  const { run } = found.parts;
  // an attempt's key names no harness: of its script only today's plan can tell
  const nameless = run.kind !== "command" && run.file === "";
  return { stage: instance.id, run: nameless ? instance.action.run : run, inputs, log, ...found };
}

function actionOf(key: string, { actions }: Workspace) {
  const entry = actions.get(key);
  return entry && { key, record: null, parts: entry.parts, outputs: entry.outputs, ran: entry.ran };
}

/** By what was last used, in whichever slot it was made; after the cache is gone, by its own slot. */
function attemptOf({ id }: Instance, plan: Plan, { attempts, last }: Workspace) {
  const used = last.get(id);
  const held = (used && attempts.find(used.key)) ?? attempts.inSlot({ ...plan, stage: id });
  if (!held) return undefined;
  const { attemptKey, parts, outputs, ran } = held.record;
  return { key: attemptKey, record: held.digest, parts, outputs, ran };
}
