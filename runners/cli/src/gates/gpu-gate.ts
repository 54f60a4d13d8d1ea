// Stages that need more GPUs than this host has, and the profiles that it can run.
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { counted } from "@mlrb/core/text/counted";
import { gpusFor, type Inventory, usesGpusHere } from "@mlrb/local/leases/gpu-inventory";
import { type Check, missing } from "./check.ts";
import { type Asked, profilesWhere } from "./gate.ts";

export function gpuGate({
  host,
  ...asked
}: Pick<Asked, "plan" | "inProfile" | "starts"> & { host: Pick<Asked["host"], "gpus"> }): Check[] {
  const { plan, starts } = asked;
  const here = host.gpus(starts);
  const stages = new Map(
    lacking(plan, starts, here).map((one) => [
      one.stage.name,
      { gpus: gpusWanted(plan, one), words: withService(plan, one) },
    ]),
  );
  if (stages.size === 0) return [];
  const most = Math.max(...[...stages.values()].map(({ gpus }) => gpus));
  const wants = [...stages].map(
    ([name, { gpus, words }]) => `"${name}" needs ${counted(gpus, "GPU")}${words}`,
  );
  const others = profilesWhere(asked, (other, plan) => lacking(plan, other, here).length === 0);
  const help =
    others.length === 0
      ? `run ${plan.pipeline} on a host with ${counted(most, "GPU")}; no profile needs fewer`
      : `${others.length === 1 ? "a profile" : "profiles"} that this host can run: ${others.join(", ")}`;
  const found = `${wants.join(", ")}; this host has ${hereWords(here, most)}`;
  return [missing("gpus", found, help, { code: "too-few-gpus" })];
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

function lacking(plan: Plan, instances: Instance[], { gpus }: Inventory): Instance[] {
  return instances.filter((instance) => {
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
