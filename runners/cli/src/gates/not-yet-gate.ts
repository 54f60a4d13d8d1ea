// Refuses a run that would start an instance that still lacks something, before anything starts.
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { type Preview, previewPlan } from "@mlrb/local/decide/preview-plan";
import type { Request } from "../request/request.ts";
import { type Gate, type ProfiledPlan, startedIn } from "./gate.ts";

export async function notYetGate(request: Request, gate: Gate): Promise<Diagnostic | undefined> {
  const { plan, selected } = request;
  if (!selected.some((index) => plan.instances[index]!.execution.notYet !== undefined)) return undefined;
  return notYetProblem(request, (await previewPlan(plan, selected, gate)).previews);
}

/** The problem of starting `previews`; each reason once, with its first instance. */
export function notYetProblem(
  { plan }: Pick<ProfiledPlan, "plan">,
  previews: Pick<Preview, "index" | "action" | "onStale">[],
): Diagnostic | undefined {
  const reasons = new Map<string, string>();
  for (const { index } of startedIn(previews)) {
    const { id, execution } = plan.instances[index]!;
    if (execution.notYet !== undefined && !reasons.has(execution.notYet)) reasons.set(execution.notYet, id);
  }
  if (reasons.size === 0) return undefined;
  const texts = [...reasons].map(([why, id]) => `${id}: ${why}`);
  return {
    code: "not-yet",
    message: `${texts.join("; ")}. Nothing is started`,
    help: "choose another profile or another kind of data; with --only, stages that need no such instance run",
  };
}
