// Refuses a run of a profile that is not complete, before any of its attempts starts.
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { type Preview, previewPlan } from "@mlrb/local/decide/preview-plan";
import type { Request } from "../request/request.ts";
import { type Gate, type ProfiledPlan, startedIn } from "./gate.ts";

export async function notYetGate(request: Request, gate: Gate): Promise<Diagnostic | undefined> {
  const { plan, selected } = request;
  if (plan.notYet === undefined) return undefined;
  return notYetProblem(request, (await previewPlan(plan, selected, gate)).previews);
}

/** The problem of starting `previews`. Stages without an attempt, e.g. downloads, may run. */
export function notYetProblem(
  { plan }: Pick<ProfiledPlan, "plan">,
  previews: Pick<Preview, "index" | "action" | "onStale">[],
): Diagnostic | undefined {
  const { notYet, instances, profile } = plan;
  if (notYet === undefined || !startedIn(previews).some(({ index }) => instances[index]!.stage.durable))
    return undefined;
  return {
    code: "not-yet",
    message: `profile "${profile}" starts no attempt yet: ${notYet}`,
    help: "choose another profile; with --only, stages that need no attempt run, e.g. --only download",
  };
}
