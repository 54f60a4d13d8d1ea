// The entry of an action in a remote cache: how it is written, and what is checked before it is believed. An entry
// counts only for the key and the outputs for which it is looked up.

import { hash } from "node:crypto";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import { runsHere } from "@mlrb/core/plan/runs-here";
import { isDeclaredPrivate } from "@mlrb/core/spec/given-output";
import { readFormat } from "@mlrb/formats/read-format";
import {
  actionResult,
  type RemoteAction,
  remoteAction,
  signedResult,
} from "@mlrb/formats/stage/remote-action";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { RunKey, RunSignatures } from "../signatures/run-key.ts";

/** A larger entry is neither written nor read: it would name a hundred thousand files. */
export const entryBytesMax = 32 << 20;

/**
 * Whether results of the instance may be taken from another machine and sent to others. An attempt is a record
 * with its cost and its evidence, an environment lies in place, a measurement of a machine belongs to the machine,
 * and private data stays where it was made. What a GPU of a cluster's node computes belongs to that GPU's model,
 * which this host does not know when it looks.
 */
export function isShared(instance: Instance): boolean {
  const { stage, action, execution } = instance;
  return (
    (execution.resources.gpus === 0 || runsHere(instance)) &&
    !stage.durable &&
    !stage.untrusted &&
    stage.name !== environmentStage &&
    !action.hostSensitive &&
    !stage.gives.some(({ name }) => isDeclaredPrivate(stage.spec.gives?.[name]))
  );
}

/** Whether it gives a folder of an attempt's files: attempts are not shared, and the copy is made sooner here. */
export function copiesAttempt({ stage, inputs }: Instance, { instances }: Pick<Plan, "instances">): boolean {
  const ofAttempt = inputs.some(
    ({ from }) => instances[from]!.stage.durable || instances[from]!.stage.untrusted,
  );
  return ofAttempt && stage.gives.some(({ kind }) => kind === "dir");
}

/** Where the result of a key lies. GPUs of different models compute different digits, which the key does not show. */
export function remoteAddress(key: string, { execution }: Instance, gpuNames: () => string[]): string {
  if (execution.resources.gpus === 0) return key;
  return hash("sha256", canonicalJson({ key, gpus: [...new Set(gpuNames())].sort() }));
}

export function entryText(action: RemoteAction, runKey: RunKey): string {
  const payload = canonicalJson(action);
  const signed = { payload, ...runKey.sign(payload) };
  const files = Object.entries(action.contents).filter(([, bytes]) => bytes > 0);
  return JSON.stringify({
    outputFiles: files.map(([path, bytes]) => ({ path, digest: { hash: path, sizeBytes: String(bytes) } })),
    stdoutRaw: Buffer.from(JSON.stringify(signed)).toString("base64"),
    // a server that finds a worker changes nothing
    executionMetadata: { worker: "mlrb" },
  });
}

type EntryReading =
  | { kind: "valid"; action: RemoteAction; signedBy: string }
  | { kind: "rejected"; code: string; message: string; help?: string };

type Wanted = { key: string; address: string; instance: Instance; signatures: RunSignatures };

/** Nothing of the payload is read before its signature was found valid. */
export function readEntry(text: string, { key, address, instance, signatures }: Wanted): EntryReading {
  const outer = readFormat(actionResult, text);
  if (outer.kind === "unreadable") return rejected("bad-entry", outer.cause);
  const signed = readFormat(signedResult, Buffer.from(outer.value.stdoutRaw, "base64").toString("utf8"));
  if (signed.kind === "unreadable") return rejected("unsigned-entry", signed.cause);
  const { payload } = signed.value;
  const verification = signatures.verify(payload, signed.value);
  if (verification.kind === "refused") {
    const { code, message, help } = verification;
    return { kind: "rejected", code, message, help };
  }
  const action = readFormat(remoteAction, payload);
  if (action.kind === "unreadable") return rejected("bad-entry", action.cause);
  if (action.value.key !== key || action.value.address !== address)
    return rejected("other-entry", "it is of another action");
  const outputs = Object.entries(action.value.outputs);
  const { gives } = instance.stage;
  const isWhole = gives.every(({ name, kind }) => action.value.outputs[name]?.kind === kind);
  if (!isWhole || outputs.length !== gives.length)
    return rejected("other-outputs", "its outputs are not those that the stage declares");
  return { kind: "valid", action: action.value, signedBy: verification.signedBy };
}

function rejected(code: string, message: string): EntryReading {
  return { kind: "rejected", code, message };
}
