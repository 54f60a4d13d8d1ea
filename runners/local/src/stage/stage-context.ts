// The context of a stage. Checked when written: a script that loaded the checker would take 30 ms more processor
// time (60 with this schema compiled), and there are thousands of stages.

import type { Instance } from "@mlrb/core/plan/plan";
import { withAddresses } from "@mlrb/core/spec/services";
import { mustFollow } from "@mlrb/formats/read-format";
import {
  stageContext as format,
  type SandboxRequest,
  type StageContext,
} from "@mlrb/formats/stage/stage-context";
import type { Bound } from "../decide/bind-inputs.ts";

type Paths = {
  /** Inputs also have the name `STAGE.OUTPUT`, which the context leaves out. */
  inputs: Record<string, string>;
  outputs: Record<string, string>;
  /** The addresses of services by name. */
  services?: Record<string, string>;
  /** Of a stage inside walls. */
  limits?: { timeMs?: number; memoryBytes?: number };
  sandbox?: SandboxRequest;
  secretSeed?: string;
};

export function stageContext(
  instance: Instance,
  { parts }: Pick<Bound, "parts">,
  { inputs, outputs, services, limits, sandbox, secretSeed }: Paths,
): StageContext {
  const { action } = instance;
  // a durable stage outlives its run, and the address with it: it reads services.json in its folder
  const fills = services !== undefined && !instance.stage.durable;
  const params = fills ? (withAddresses(action.params, services) as typeof action.params) : action.params;
  const context = {
    formatVersion: 1 as const,
    stage: instance.id,
    axes: parts.axes,
    params,
    inputs: Object.fromEntries(Object.entries(inputs).filter(([name]) => !name.includes("."))),
    outputs,
    files: action.files,
    sources: Object.keys(parts.files),
    budget: action.budget,
    ...waitLimits(instance),
    ...(limits && { limits }),
    ...(sandbox && { sandbox }),
    ...(secretSeed !== undefined && { secretSeed }),
  };
  mustFollow(format, context, `bug: the context of ${instance.id}`);
  return context;
}

function waitLimits({ execution }: Instance): Pick<StageContext, "waits"> {
  const { providerWaitMs: providerMs, operatorWaitMs: operatorMs } = execution.limits;
  const waits = {
    ...(providerMs !== undefined && { providerMs }),
    ...(operatorMs !== undefined && { operatorMs }),
  };
  return Object.keys(waits).length > 0 ? { waits } : {};
}
