// Nobody finds out in the middle of a run that a GPU is not there: what would run and wants more of them
// than this host has is told before anything starts, with the profiles that do with what there is.
import type { Diagnostic } from "@mlrb/core/diagnostic";
import type { Instance, Plan } from "@mlrb/core/plan";
import { gpuCount } from "@mlrb/local/gpu-count";
import { type Preview, previewPlan } from "@mlrb/local/preview-plan";
import type { StalePolicy } from "@mlrb/local/run-request";
import type { Workspace } from "@mlrb/local/workspace";
import { printProblems, type Request } from "./request.ts";

type Gate = { workspace: Workspace; stale: StalePolicy; json: boolean };

/** Whether the run may start; false after saying why not. */
export async function gpusSuffice(request: Request, { workspace, stale, json }: Gate): Promise<boolean> {
  const { plan, selected } = request;
  const here = gpusFor(plan, selected);
  if (lacking(plan, selected, here).length === 0) return true;
  const { previews } = await previewPlan(plan, selected, { workspace, stale });
  const problem = tooFewGpus(request, previews, here);
  if (problem) printProblems([problem], json);
  return problem === undefined;
}

/** How many GPUs this host has for the instances at `indices`; nobody is asked where none wants any. */
export function gpusFor(plan: Plan, indices: number[]): number {
  return gpuCount(indices.map((index) => plan.instances[index]!).filter(runsHere));
}

type Asked = Pick<Request, "plan" | "inProfile">;

/** What is wrong with running what `previews` say would run on a host with `here` GPUs. */
export function tooFewGpus(
  { plan, inProfile }: Asked,
  previews: Preview[],
  here: number,
): Diagnostic | undefined {
  const started = previews.filter(
    ({ action, onStale }) => action === "run" || (action === "stale" && onStale === "rerun"),
  );
  const indices = started.map(({ index }) => index);
  const stages = new Map(
    lacking(plan, indices, here).map(({ stage, execution }) => [stage.name, execution.resources.gpus]),
  );
  if (stages.size === 0) return undefined;
  const wants = [...stages].map(([name, gpus]) => `"${name}" wants ${gpus} GPU${gpus === 1 ? "" : "s"}`);
  const others = plan.profiles.filter((name) => {
    const other = name === plan.profile ? undefined : inProfile(name);
    return other && lacking(other.plan, other.selected, here).length === 0;
  });
  const options = others.map((name) => `--profile ${name}`).join(", ");
  const most = Math.max(...stages.values());
  return {
    code: "too-few-gpus",
    message: `${wants.join(", ")}; this host has ${here === 0 ? "none" : here} (nvidia-smi -L)`,
    help:
      others.length === 0
        ? `run ${plan.pipeline} on a host with ${most} GPU${most === 1 ? "" : "s"}; it has no profile that does with less`
        : `${others.length === 1 ? "a profile that does" : "profiles that do"} with what is here: ${options}`,
  };
}

function lacking(plan: Plan, indices: number[], here: number): Instance[] {
  return indices
    .map((index) => plan.instances[index]!)
    .filter((instance) => runsHere(instance) && instance.execution.resources.gpus > here);
}

function runsHere({ execution }: Instance): boolean {
  return execution.executor === "local";
}
