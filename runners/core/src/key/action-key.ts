// The action key: the digest of everything that can change the outputs of a stage instance. It never holds a
// timestamp, a machine's path, a secret, a limit, a profile's name or the order of files.

import { hash } from "node:crypto";
import { attemptFields } from "@mlrb/formats/declared/agent-preset";
import type { KeyParts } from "@mlrb/formats/stage/action";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { Instance } from "../plan/plan.ts";
import { agentVariables } from "./agent-variables.ts";

/** Raised when the meaning of a key changes; it invalidates every older key. */
const keyFormat = 1;

/** The same for attempts. */
export const attemptKeyFormat = 1;

export type BoundInputs = {
  code: Record<string, string>;
  files: Record<string, string>;
  inputs: Record<string, string>;
  environment: string | null;
  host: Record<string, string> | null;
  image?: string;
  /** Action keys of the services that it uses, by name. */
  services?: Record<string, string>;
};

/** The parts of the key of `instance`, given the digests of everything that it reads. */
export function keyParts(instance: Instance, bound: BoundInputs): KeyParts {
  const { stage, action, axes } = instance;
  const { task, seed } = axes;
  const network = stage.durable ? reachedNetwork(instance) : undefined;
  const { cpus, gpuMemoryBytes } = instance.execution.resources;
  return {
    keyFormat: stage.durable ? attemptKeyFormat : keyFormat,
    ...(stage.durable && { agentEnv: agentVariables({ task, seed, cpus, gpuMemoryBytes }) }),
    ...(network !== undefined && { network }),
    run: stage.durable && action.run.kind !== "command" ? { kind: action.run.kind, file: "" } : action.run,
    // so that a new parameter that is not set changes no attempt's key
    params: stage.durable
      ? Object.fromEntries(Object.entries(attemptFields(action.params)).filter(([, value]) => value !== null))
      : action.params,
    axes: Object.fromEntries(stage.keyed.map((axis) => [axis, instance.axes[axis]!])),
    outputs: Object.fromEntries(
      stage.gives.flatMap(({ name, kind, added }) => (added && stage.durable ? [] : [[name, kind]])),
    ),
    env: action.env,
    budget: action.budget,
    ...bound,
    code: stage.durable ? {} : bound.code,
  };
}

/** The network of an attempt as its key has it: an agent with one works under another condition than one without. */
export function reachedNetwork({ execution: { network } }: Instance): KeyParts["network"] {
  return network === "full" || network === "hub" ? network : undefined;
}

/** sha256, in hex, of the parts as canonical JSON. */
export function actionKey(parts: KeyParts): string {
  return hash("sha256", canonicalJson(parts));
}
