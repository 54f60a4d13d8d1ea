// Everything that may refuse a run before anything starts.
import { type Preview, previewPlan } from "@mlrb/local/decide/preview-plan";
import type { RunPurse } from "@mlrb/local/run/run-request";
import { refuse } from "../request/refuse.ts";
import type { Request } from "../request/request.ts";
import { imagesBuilt } from "./build-images.ts";
import { refusals } from "./check.ts";
import { checkGate } from "./check-gate.ts";
import { containerGate } from "./container-gate.ts";
import { type CostOptions, costAgreed } from "./cost-gate.ts";
import { askedOf, type Deciding, type Gate, startedIn } from "./gate.ts";
import { gpuGate } from "./gpu-gate.ts";
import { keyGate } from "./key-gate.ts";
import { priceGate } from "./price-gate.ts";
import { slurmGate } from "./slurm-gate.ts";
import { sourceGate } from "./source-gate.ts";

/** `doctor` prints what each of them finds. */
export const gates: Gate[] = [sourceGate, keyGate, priceGate, containerGate, slurmGate, gpuGate];

/** Whether the run may start; false after printing why not. */
export async function mayRun(
  request: Request,
  deciding: Deciding,
  { purse, options }: { purse: RunPurse; options: CostOptions & { json: boolean } },
): Promise<boolean> {
  const { plan, selected } = request;
  const asked = askedOf(request, deciding, purse);
  const of = (indices: number[]) => ({ ...asked, starts: indices.map((index) => plan.instances[index]!) });
  const unchecked = await checkGate(request, deciding);
  const problems = unchecked ? [unchecked] : [];
  let previews: Preview[] | undefined;
  for (const gate of gates) {
    // which instances start is looked up only if one of the selected lacks something
    if (refusals(await gate(of(selected))).length === 0) continue;
    previews ??= (await previewPlan(plan, selected, deciding)).previews;
    problems.push(...refusals(await gate(of(startedIn(previews).map(({ index }) => index)))));
  }
  if (problems.length > 0) {
    refuse(problems, options.json);
    return false;
  }
  if (!(await costAgreed(request, deciding, options))) return false;
  const unbuilt = await imagesBuilt(request, deciding, (line) => console.error(line));
  if (unbuilt) refuse([unbuilt], options.json);
  return unbuilt === undefined;
}
