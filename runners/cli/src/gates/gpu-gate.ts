// Refuses a run whose stages need more GPUs than this host has, before anything starts, and names the profiles that
// the host can run.

import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { counted } from "@mlrb/core/text/counted";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { type Preview, previewPlan } from "@mlrb/local/decide/preview-plan";
import { gpusFor, gpusHere, type Inventory, usesGpusHere } from "@mlrb/local/leases/gpu-inventory";
import type { Request } from "../request/request.ts";
import { type Gate, type ProfiledPlan, profilesWhere, startedIn } from "./gate.ts";

/** Why the run may not start, if it may not. */
export async function gpuGate(request: Request, gate: Gate): Promise<Diagnostic | undefined> {
  const { plan, selected } = request;
  const here = gpusAsked(plan, selected);
  if (lacking(plan, selected, here).length === 0) return undefined;
  const { previews } = await previewPlan(plan, selected, gate);
  return tooFewGpus(request, previews, here);
}

/** This host's GPUs for the instances at `indices`; the driver is not asked if none of them needs a GPU. */
export function gpusAsked(plan: Plan, indices: number[]): Inventory {
  return gpusHere(indices.map((index) => plan.instances[index]!).filter(usesGpusHere));
}

/** The problem of running `previews` on a host with the GPUs `here`. */
export function tooFewGpus(
  request: ProfiledPlan,
  previews: Preview[],
  here: Inventory,
): Diagnostic | undefined {
  const { plan } = request;
  const started = startedIn(previews);
  const indices = started.map(({ index }) => index);
  const stages = new Map(
    lacking(plan, indices, here).map((one) => [
      one.stage.name,
      { gpus: gpusWanted(plan, one), words: withService(plan, one) },
    ]),
  );
  if (stages.size === 0) return undefined;
  const most = Math.max(...[...stages.values()].map(({ gpus }) => gpus));
  const wants = [...stages].map(
    ([name, { gpus, words }]) => `"${name}" needs ${counted(gpus, "GPU")}${words}`,
  );
  const others = profilesWhere(request, (other) => lacking(other.plan, other.selected, here).length === 0);
  return {
    code: "too-few-gpus",
    message: `${wants.join(", ")}; this host has ${hereWords(here, most)}`,
    help:
      others.length === 0
        ? `run ${plan.pipeline} on a host with ${counted(most, "GPU")}; no profile needs fewer`
        : `${others.length === 1 ? "a profile" : "profiles"} that this host can run: ${others.join(", ")}`,
  };
}

function withService(plan: Plan, one: Instance): string {
  return gpusWanted(plan, one) > one.execution.resources.gpus ? " with its service" : "";
}

function hereWords({ gpus, trouble = "-L" }: Inventory, wanted: number): string {
  const whole = gpusFor(wanted, gpus).length;
  const slices = gpus.length - whole;
  const divided = slices > 0 ? `, and ${slices} slices (MIG); a process sees only one` : "";
  return `${whole === 0 ? "none" : whole}${divided} (nvidia-smi ${trouble === "-L" ? trouble : `reports: ${trouble}`})`;
}

function lacking(plan: Plan, indices: number[], { gpus }: Inventory): Instance[] {
  return indices
    .map((index) => plan.instances[index]!)
    .filter((instance) => {
      const own = instance.execution.resources.gpus;
      if (!usesGpusHere(instance)) return false;
      return own > gpusFor(own, gpus).length || gpusWanted(plan, instance) > gpus.length;
    });
}

/** Of this host, with those of its service, which runs at the same time. */
function gpusWanted(plan: Plan, { execution, uses }: Instance): number {
  const ofService = uses ? plan.instances[uses.from]!.execution.resources.gpus : 0;
  return execution.resources.gpus + ofService;
}
