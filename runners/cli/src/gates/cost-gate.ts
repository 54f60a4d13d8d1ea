// Prevents accidental cost: new attempts whose estimate exceeds the limits need a confirmation before anything
// runs.
import { createInterface } from "node:readline/promises";
import type { Reason } from "@mlrb/core/key/reasons";
import { counted } from "@mlrb/core/text/counted";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import { isPaid } from "@mlrb/local/records/estimate-cost";
import { refuse } from "../request/refuse.ts";
import type { Request } from "../request/request.ts";
import { typedProgram } from "../request/typed-program.ts";
import { isWatchedAgain } from "../watch/watcher-channel.ts";
import { type Deciding, startedIn } from "./gate.ts";
import { judgeBounds, paysForAnswers } from "./judge-bounds.ts";
import { total } from "./spent.ts";
import { costWords, type TotalCost, totalCost } from "./total-cost.ts";

export type CostOptions = {
  maxCost?: string;
  maxGpuHours?: string;
  price?: string[];
  yes?: boolean;
  /** Only attempts that began are meant: a confirmation holds for no new one. */
  continues?: boolean;
};

export type CostLimits = { gpuHours: number; dollars: number };

/** The limits of `--max-gpu-hours` and `--max-cost`; 0 without the option. */
export function costLimits({ maxGpuHours, maxCost }: CostOptions): CostLimits | Diagnostic {
  const limits: CostLimits = { gpuHours: 0, dollars: 0 };
  for (const [option, text, name] of [
    ["--max-gpu-hours", maxGpuHours, "gpuHours"],
    ["--max-cost", maxCost, "dollars"],
  ] as const) {
    if (text === undefined) continue;
    limits[name] = text.trim() === "" ? Number.NaN : Number(text);
    if (limits[name] >= 0 && Number.isFinite(limits[name])) continue;
    const help = "give a number such as 48 or 86.50, without a unit; --yes removes the limits";
    return { code: "bad-limit", message: `${option} ${text} is not a number of 0 or more`, help };
  }
  return limits;
}

/** The problem of starting attempts at `cost`; undefined within the limits. GPU hours of services are limited apart. */
export function overCost(cost: TotalCost, limits: CostLimits): Diagnostic | undefined {
  const judges = cost.judges ?? { dollars: 0 };
  const { most: servedHours, unknown: unknownServed } = cost.services ?? { most: 0, unknown: 0 };
  const unknown =
    cost.unknownDollars > 0 || cost.unknownGpuHours > 0 || unknownServed > 0 || judges.dollars === null;
  const dollars = cost.dollars + (judges.dollars ?? 0);
  const gpuHours = Math.max(cost.gpuHours, servedHours);
  if (gpuHours <= limits.gpuHours && dollars <= limits.dollars && !unknown) return undefined;
  const most = `${counted(limits.gpuHours, "GPU hour")} and ${counted(limits.dollars, "dollar")}`;
  const raise = unknown ? "pass --yes" : "raise --max-gpu-hours and --max-cost, or pass --yes";
  return {
    code: "over-cost",
    message: `This would start ${costWords(cost)}; the limits are ${most}.`,
    help: `${raise}; \`${typedProgram()} plan\` with the same pipeline and options lists them`,
  };
}

const isLost = ({ kind }: Reason) => kind === "lost";

/** An edit asks for what it changed, not for a second attempt in place of a lost one. */
function lostAgain(stage: string): Diagnostic {
  return {
    code: "lost-attempt",
    message: `${stage} was lost; \`watch\` does not pay for it a second time.`,
    help: `run \`${typedProgram()} run\` once, which asks first; then watch again`,
  };
}

function notBegun(stage: string): Diagnostic {
  return {
    code: "new-attempt",
    message: `${stage} would begin anew and be paid again: its key is not that of an attempt that can continue.`,
    help: `\`${typedProgram()} plan\` with the same pipeline and options says why`,
  };
}

/** Whether the run may start; false after printing why not. */
export async function costAgreed(
  { plan, selected }: Pick<Request, "plan" | "selected">,
  gate: Deciding,
  options: CostOptions & { json: boolean },
): Promise<boolean> {
  const no = (problem: Diagnostic) => {
    refuse([problem], options.json);
    return false;
  };
  const limits = costLimits(options);
  if ("code" in limits) return no(limits);
  const mayCost = selected.some((index) => {
    const { stage, execution, action, uses } = plan.instances[index]!;
    if (paysForAnswers({ stage, action })) return true;
    const gpus = execution.resources.gpus + (uses ? plan.instances[uses.from]!.execution.resources.gpus : 0);
    return stage.durable && (gpus > 0 || isPaid(action));
  });
  if (!mayCost || (options.yes && !options.continues && !isWatchedAgain())) return true;
  const { previews } = await previewPlan(plan, selected, gate);
  const anew = options.continues && startedIn(previews).find(({ cost, certain }) => cost && certain);
  if (anew) return no(notBegun(plan.instances[anew.index]!.id));
  const again = isWatchedAgain() && previews.find(({ cost, reasons }) => cost && reasons.some(isLost));
  if (again) return no(lostAgain(plan.instances[again.index]!.id));
  if (options.yes) return true;
  const starts = startedIn(previews).map(({ index }) => plan.instances[index]!);
  const judged = judgeBounds(starts.filter(paysForAnswers), options.price ?? []);
  if ("code" in judged) return no(judged);
  const stages = judged.reduce((sum, one) => sum + one.stages, 0);
  const judges = { stages, dollars: total(judged.map(({ dollars }) => dollars)) };
  const problem = overCost({ ...totalCost(previews), ...(stages > 0 && { judges }) }, limits);
  return problem === undefined || personAgrees(problem, options.json);
}

/** Asks a person at a terminal whether to start in spite of `problem`; elsewhere false after printing it. */
export async function personAgrees(problem: Diagnostic, json: boolean): Promise<boolean> {
  if (!process.stdin.isTTY || json) {
    refuse([problem], json);
    return false;
  }
  return saysYes(`${problem.message} Start?`);
}

/** Of a person at a terminal. */
export async function saysYes(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
