// Everything that may refuse a run before anything starts.
import type { Instance } from "@mlrb/core/plan/plan";
import { type Preview, previewPlan } from "@mlrb/local/decide/preview-plan";
import { isPaid } from "@mlrb/local/records/estimate-cost";
import type { RunPurse } from "@mlrb/local/run/run-request";
import { refuse } from "../request/refuse.ts";
import type { Request } from "../request/request.ts";
import { isWatched } from "../watch/watcher-channel.ts";
import { imagesBuilt } from "./build-images.ts";
import { refusals } from "./check.ts";
import { checkGate } from "./check-gate.ts";
import { containerGate } from "./container-gate.ts";
import { type CostOptions, costAgreed } from "./cost-gate.ts";
import { agentBounds, boundLines } from "./dollar-bounds.ts";
import { type Asked, askedOf, type Deciding, type Gate, startedIn } from "./gate.ts";
import { gpuGate } from "./gpu-gate.ts";
import { judgeBounds, judgeLines } from "./judge-bounds.ts";
import { judgeGate } from "./judge-gate.ts";
import { keyGate } from "./key-gate.ts";
import { personGate } from "./person-gate.ts";
import { priceGate } from "./price-gate.ts";
import { slurmGate } from "./slurm-gate.ts";
import { downloadLine, sourceGate, toDownload } from "./source-gate.ts";

/** `doctor` prints what each of them finds. */
export const gates: Gate[] = [
  sourceGate,
  personGate,
  judgeGate,
  keyGate,
  priceGate,
  containerGate,
  slurmGate,
  gpuGate,
];

/** What a person at a terminal may agree to within the run. */
const agreeable = ["unresolved-source", "not-accepted"];

/** Whether the run may start; false after printing why not; "again" once sources were locked, so the plan differs. */
export async function mayRun(
  request: Request,
  deciding: Deciding,
  { purse, options }: { purse: RunPurse; options: CostOptions & { json: boolean } },
): Promise<boolean | "again"> {
  const { plan, selected, root } = request;
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
  const hears = process.stdin.isTTY && !options.json && !isWatched();
  if (hears && problems.length > 0 && problems.every(({ code }) => agreeable.includes(code))) {
    const wanted = toDownload(of(startedIn(previews!).map(({ index }) => index)).starts, asked.sources);
    const { sourcesAgreed } = await import("../sources/offer-sources.ts");
    const { repository } = deciding.workspace;
    if ("sources" in wanted && (await sourcesAgreed(repository, wanted.sources, root))) return "again";
  }
  if (problems.length > 0) {
    refuse(problems, options.json);
    return false;
  }
  if (!options.json) await printStart(request, deciding, { asked, previews });
  if (!(await costAgreed(request, deciding, options))) return false;
  const unbuilt = await imagesBuilt(request, deciding, (line) => console.error(line));
  if (unbuilt) refuse([unbuilt], options.json);
  return unbuilt === undefined;
}

/** What the run downloads, and what its attempts can cost at most; nothing where both are nothing. */
async function printStart(
  { plan, selected }: Request,
  deciding: Deciding,
  at: { asked: Omit<Asked, "starts">; previews: Preview[] | undefined },
): Promise<void> {
  const costs = ({ stage, action }: Instance) =>
    stage.spec.hub || stage.spec.paidAnswers || (stage.durable && isPaid(action, () => true));
  if (!selected.some((index) => costs(plan.instances[index]!))) return;
  const previews = at.previews ?? (await previewPlan(plan, selected, deciding)).previews;
  const starts = startedIn(previews).map(({ index }) => plan.instances[index]!);
  const { purse, sources } = at.asked;
  const fetched = toDownload(starts, sources);
  const bounds = agentBounds(starts, purse.prices);
  if ("sources" in fetched && fetched.sources.length > 0) console.error(downloadLine(fetched.sources));
  const { maxDollars } = purse;
  if (!("code" in bounds))
    for (const line of boundLines(bounds, { maxDollars, reported: plan.reported })) console.error(line);
  const judges = judgeBounds(starts, purse.prices);
  if (!("code" in judges)) for (const line of judgeLines(judges)) console.error(line);
}
