// Binds a stage instance to what it would read now: computes the parts of its key, and the key. `plan` and `run`
// both bind here, so they cannot disagree.

import { hash } from "node:crypto";
import { actionKey, keyParts } from "@mlrb/core/key/action-key";
import { environmentStage, type Instance } from "@mlrb/core/plan/plan";
import type { KeyParts } from "@mlrb/formats/stage/action";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import type { Collected } from "@mlrb/formats/stage/collected";
import { canonicalJson } from "@mlrb/kit/json-file";
import { environmentKey, environmentPath } from "../process/environments.ts";
import type { BindContext } from "../run/result.ts";
import { mayWrite } from "../store/read-only-state.ts";
import { collectMembers } from "./collect-members.ts";
import type { Declared } from "./declared.ts";
import { hostFacts, hostKind, processorClass } from "./host-facts.ts";
import { imageOf } from "./image-identity.ts";

export type Bound = {
  key: string;
  parts: KeyParts;
  /** Input artifacts by input name. */
  inputs: Record<string, Artifact>;
  /** A collecting stage's manifest. */
  manifest?: Collected;
} & Pick<Declared, "codeFiles" | "environment">;

/** All commands share this object, because memories are keyed by object identity. */
const nothing: Record<string, string> = {};

/** `results` holds everything the instance depends on; `undefined` members were not selected. */
export async function bind(instance: Instance, context: BindContext): Promise<Bound> {
  const { workspace } = context;
  const { stage } = instance;
  const bound = boundInputs(instance, context);
  const inputs = Object.fromEntries(Object.entries(bound).map(([name, { digest }]) => [name, digest]));
  const manifest = stage.collect.length > 0 ? collectMembers(instance, context) : undefined;
  // so that an attempt that collects nothing has the key that it had before it could
  const counts = !stage.durable || instance.members.length > 0;
  if (manifest && counts) {
    const text = canonicalJson(manifest);
    // stored, unless the state is read-only
    inputs.manifest = mayWrite(workspace.state.blobs) ? workspace.store.putText(text) : hash("sha256", text);
  }
  const { environment, codeFiles, ...declared } = await lookedAtOnce(instance, context);
  const parts = keyParts(instance, {
    ...declared,
    inputs,
    environment: environment?.key ?? null,
    ...(await serviceOf(instance, context)),
  });
  const key = stage.name === environmentStage ? environment!.key : actionKey(parts);
  return {
    key,
    parts,
    inputs: bound,
    codeFiles,
    ...(manifest && { manifest }),
    ...(environment && { environment }),
  };
}

/** Instances of a stage differ in their axes and inputs, and read the same files. */
function lookedAtOnce(instance: Instance, context: BindContext): Promise<Declared> {
  const { action, stage, execution, environment } = instance;
  const { run, files, params, hostSensitive } = action;
  const lock = stage.name === environmentStage ? params.lock : environment;
  const { executor, image, service, resources } = execution;
  const kind = [stage.durable, stage.untrusted, hostSensitive, service, resources.gpus > 0];
  const same = [run, files, lock ?? null, executor, image ?? null, kind];
  const find = () => declaredParts(instance, context);
  return context.declared?.getOrInsertComputed(JSON.stringify(same), find) ?? find();
}

export async function declaredParts(
  instance: Instance,
  context: Pick<BindContext, "plan" | "workspace">,
): Promise<Declared> {
  const { action, stage } = instance;
  const { codes, digests, imports } = context.workspace;
  const code = action.run.kind === "script" ? await codes.of(action.run.file) : undefined;
  const python = action.run.kind === "python" ? digests.ofPatterns(imports.of(action.run.file)) : nothing;
  const environment = environmentOf(instance, context);
  return {
    code: code?.code ?? python,
    files: stage.durable ? digests.ofHandedOver(action.files) : digests.ofDeclared(action.files),
    host: hostOf(instance),
    ...imageOf(instance, context.workspace),
    codeFiles: code?.files ?? python,
    ...(environment && { environment }),
  };
}

/**
 * The inputs of an instance. An instance that reads an attempt also reads the inputs that the attempt's record
 * pins. An old attempt is judged by the data that it saw, not by newer data.
 */
function boundInputs(instance: Instance, { plan, results }: BindContext): Record<string, Artifact> {
  const records = instance.inputs.flatMap(({ from }) => results[from]?.record ?? []);
  const bound: Record<string, Artifact> = {};
  for (const { name, from, output } of instance.inputs) {
    const { id, stage } = plan.instances[from]!;
    const pin = records
      .flatMap(({ record }) => record.given)
      .find((given) => given.stage === id && given.output === output);
    const artifact = pin ?? results[from]?.outputs[output];
    const isAdded = stage.gives.some(({ name: given, added }) => given === output && added);
    if (!artifact && isAdded && results[from]?.record) continue; // made before attempts gave it
    if (!artifact) throw new Error(`bug: ${instance.id} is bound before ${id} gave ${output}`);
    bound[name] = { kind: artifact.kind, digest: artifact.digest };
  }
  return bound;
}

/**
 * The host facts of the key. An environment depends only on the kind of machine; a measurement of speed depends on
 * the machine. Any GPU computes other numbers than a CPU, so an instance with a GPU has `device`. What Python
 * computes in an environment has last digits that depend on the class of the processor. An attempt does not: its
 * record is valid wherever it was made, and so neither does a service, whose key is in the keys of its users.
 */
function hostOf({ action, stage, execution, environment }: Instance): Record<string, string> | null {
  const device = execution.resources.gpus > 0 ? { device: "gpu" } : undefined;
  if (stage.name === environmentStage) return hostKind();
  if (action.hostSensitive) return { ...hostFacts(), ...device };
  const computes = environment !== undefined && !stage.durable && execution.service === undefined;
  const host = { ...(computes && { processor: processorClass() }), ...device };
  return Object.keys(host).length > 0 ? host : null;
}

/** A service changes what its users make: its declaration is in their keys, and its address is not. */
async function serviceOf({ uses }: Instance, context: BindContext): Promise<Pick<KeyParts, "services">> {
  if (!uses) return {};
  const { key } = await bind(context.plan.instances[uses.from]!, context);
  return { services: { [uses.name]: key } };
}

/** The environment in which an instance runs, or which it builds. */
function environmentOf(
  instance: Instance,
  context: Pick<BindContext, "plan" | "workspace">,
): Bound["environment"] {
  const builder = instance.stage.name === environmentStage ? instance.index : instance.environment;
  if (builder === undefined) return undefined;
  const lock = String(context.plan.instances[builder]!.action.params.lock);
  const key = environmentKey(lock, context.workspace);
  return { key, path: environmentPath(context.workspace.state, key), lock };
}
