// Binds a stage instance to what it would read now, and says whether that was done before. The one
// place that decides between running and reusing; `plan` and `run` both ask it.
import { actionKey, type KeyParts, keyParts } from "@mlrb/core/action-key";
import { type Outcome, outcomeCause } from "@mlrb/core/outcome";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan";
import { changes, type Reason } from "@mlrb/core/reasons";
import type { Collected, Member } from "@mlrb/kit/collected";
import { canonicalJson } from "@mlrb/kit/json-file";
import { environmentKey, environmentPath, environmentReady } from "./environments.ts";
import type { Artifact } from "./store.ts";
import type { Workspace } from "./workspace.ts";

/** How an instance ended in this run, with what it gave if it succeeded. */
export type Result = { outcome: Outcome; outputs: Record<string, Artifact> };

export type Bound = {
  key: string;
  parts: KeyParts;
  /** Digests of the script's source files, for reasons only. */
  codeFiles: Record<string, string>;
  /** A collecting stage's manifest. */
  manifest?: Collected;
  environment?: { key: string; path: string };
};

export type Found = { outputs: Record<string, Artifact>; durationMs: number };

/** `results` holds everything the instance depends on; `undefined` members were not selected. */
export async function bind(
  instance: Instance,
  context: { plan: Plan; workspace: Workspace; results: (Result | undefined)[] },
): Promise<Bound> {
  const { plan, workspace, results } = context;
  const { action, stage } = instance;
  const inputs: Record<string, string> = {};
  for (const { name, from, output } of instance.inputs) {
    const artifact = results[from]?.outputs[output];
    if (!artifact)
      throw new Error(`bug: ${instance.id} is bound before ${plan.instances[from]!.id} gave ${output}`);
    inputs[name] = artifact.digest;
  }
  const manifest = stage.collect.length > 0 ? collectMembers(instance, context) : undefined;
  if (manifest) inputs.manifest = workspace.store.putText(canonicalJson(manifest));
  const code = action.run.kind === "script" ? await workspace.codes.of(action.run.file) : undefined;
  const pythonFile =
    action.run.kind === "python" ? { [action.run.file]: workspace.digests.of(action.run.file) } : {};
  const environment = environmentOf(instance, context);
  const parts = keyParts(instance, {
    code: code?.code ?? pythonFile,
    files: workspace.digests.ofPatterns(action.files),
    inputs,
    environment: environment?.key ?? null,
    host: action.hostSensitive ? { platform: process.platform, arch: process.arch } : null,
  });
  const key = stage.name === environmentStage ? environment!.key : actionKey(parts);
  return {
    key,
    parts,
    codeFiles: code?.files ?? pythonFile,
    ...(manifest && { manifest }),
    ...(environment && { environment }),
  };
}

/** The environment that an instance runs in, or that it builds. */
function environmentOf(
  instance: Instance,
  context: { plan: Plan; workspace: Workspace },
): Bound["environment"] {
  const builder = instance.stage.name === environmentStage ? instance.index : instance.environment;
  if (builder === undefined) return undefined;
  const lock = String(context.plan.instances[builder]!.action.params.lock);
  const key = environmentKey(lock, context.workspace);
  return { key, path: environmentPath(context.workspace.state, key) };
}

/** What an equal action gave before, if all of it can still be had. */
export function lookUp(
  instance: Instance,
  bound: Bound,
  workspace: Workspace,
): Found | "output-missing" | undefined {
  if (instance.stage.name === environmentStage) {
    return environmentReady(bound.environment!.path) ? { outputs: {}, durationMs: 0 } : undefined;
  }
  if (instance.stage.durable) {
    const found = workspace.attempts.find(bound.key);
    if (!found) return undefined;
    workspace.attempts.ensureStored(found.digest, found.record);
    return { outputs: plainOutputs(found.record.outputs), durationMs: found.record.ran.durationMs };
  }
  const entry = workspace.actions.get(bound.key);
  if (!entry) return undefined;
  const complete = Object.values(entry.outputs).every((output) => workspace.store.hasAll(output));
  return complete ? { outputs: entry.outputs, durationMs: entry.ran.durationMs } : "output-missing";
}

function plainOutputs(outputs: Record<string, Artifact>): Record<string, Artifact> {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { kind, digest }]) => [name, { kind, digest }]),
  );
}

/** Why an instance that was not found has to run: what differs from its last success. */
export function reasonsToRun(
  instance: Instance,
  bound: Bound,
  context: { plan: Plan; workspace: Workspace },
): Reason[] {
  const { plan, workspace } = context;
  if (instance.stage.name === environmentStage) return [{ kind: "environment-missing" }];
  const last = workspace.last.get(instance.id);
  const then =
    last &&
    (instance.stage.durable ? workspace.attempts.find(last.key)?.record : workspace.actions.get(last.key));
  if (!then) return [{ kind: last ? "output-missing" : "first-run" }];
  const from = new Map(instance.inputs.map((input) => [input.name, plan.instances[input.from]!.id]));
  const reasons = changes(then.parts, bound.parts, (input) => from.get(input)).flatMap((reason): Reason[] => {
    if (reason.kind !== "code-changed" || !("codeFiles" in then) || !then.codeFiles) return [reason];
    const old = then.codeFiles as Record<string, string>;
    const files = Object.keys({ ...old, ...bound.codeFiles }).filter(
      (file) => old[file] !== bound.codeFiles[file],
    );
    return files.length > 0 && reason.file === scriptOf(instance)
      ? files.sort().map((file) => ({ kind: "code-changed", file }))
      : [reason];
  });
  return reasons.length > 0 ? reasons : [{ kind: "never-succeeded" }];
}

/** Every planned member of a collecting stage, whatever became of it, in plan order. */
function collectMembers(
  instance: Instance,
  context: { plan: Plan; workspace: Workspace; results: (Result | undefined)[] },
): Collected {
  const { plan, workspace, results } = context;
  const wanted = new Map<number, string[]>();
  for (const { from, output } of instance.members) wanted.set(from, [...(wanted.get(from) ?? []), output]);
  const members = [...wanted]
    .sort(([a], [b]) => a - b)
    .map(([from, outputs], position): Member => {
      const { id, stage, axes } = plan.instances[from]!;
      const result = results[from] ?? lastKnown(id, stage.durable, workspace);
      const given = result && (result.outcome.kind === "succeeded" || result.outcome.kind === "reused");
      const kind = result?.outcome.kind === "reused" ? "succeeded" : result?.outcome.kind;
      const folder = String(position).padStart(4, "0");
      return {
        stage: id,
        name: stage.name,
        axes,
        outcome: kind ?? "not-run",
        cause: result ? outcomeCause(result.outcome) : "not selected, and it has not succeeded before",
        artifacts: given
          ? Object.fromEntries(
              outputs.map((output) => {
                const { digest, kind } = result.outputs[output]!;
                const { file } = stage.gives.find((one) => one.name === output)!;
                return [output, { digest, kind, path: `members/${folder}/${file}` }];
              }),
            )
          : {},
      };
    });
  return { formatVersion: 1, members };
}

/** What an instance outside the selection last succeeded with. */
function lastKnown(id: string, durable: boolean, workspace: Workspace): Result | undefined {
  const last = workspace.last.get(id);
  if (!last) return undefined;
  const outputs = durable
    ? workspace.attempts.find(last.key)?.record.outputs
    : workspace.actions.get(last.key)?.outputs;
  return outputs && { outcome: { kind: "reused" }, outputs };
}

function scriptOf(instance: Instance): string | undefined {
  return instance.action.run.kind === "command" ? undefined : instance.action.run.file;
}
