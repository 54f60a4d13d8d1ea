// `pipeline plan`: prints what a run would do, and why. Runs nothing.
import type { Plan } from "@mlrb/core/plan/plan";
import { formatDuration } from "@mlrb/core/text/units";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { type Preview, previewPlan } from "@mlrb/local/decide/preview-plan";
import { withKeys } from "@mlrb/local/records/estimate-cost";
import { openWorkspace } from "@mlrb/local/store/workspace";
import { refusals } from "../gates/check.ts";
import { checkProblem } from "../gates/check-gate.ts";
import type { CostOptions } from "../gates/cost-gate.ts";
import { agentBounds, boundLines } from "../gates/dollar-bounds.ts";
import { askedOf, type StaleOptions, stalePolicy, startedIn } from "../gates/gate.ts";
import { gpuGate } from "../gates/gpu-gate.ts";
import { judgeBounds, judgeLines } from "../gates/judge-bounds.ts";
import { judgeGate } from "../gates/judge-gate.ts";
import { priceGate, runPurse } from "../gates/price-gate.ts";
import {
  downloadAmount,
  downloadDiskBytes,
  downloadLine,
  sourceGate,
  toDownload,
} from "../gates/source-gate.ts";
import { costWords, totalCost } from "../gates/total-cost.ts";
import { diskWords, endWords, totalExtent } from "../gates/total-extent.ts";
import { refuse } from "../request/refuse.ts";
import { rememberedRequest } from "../request/remembered-request.ts";
import type { CommonOptions, Request } from "../request/request.ts";
import { inTypedForm } from "../request/typed-program.ts";
import { forecast } from "../run/forecast.ts";
import { checkedBefore, checkLines } from "../show/check-lines.ts";
import { powerLines } from "../show/power-lines.ts";
import { printJson } from "../show/print.ts";
import { weakLimitsLine } from "../show/weak-limits-line.ts";
import { isFirst, planLine, planLines, summaryText } from "./plan-text.ts";

type PlanCommandOptions = CommonOptions & StaleOptions & CostOptions & { all: boolean };

export async function planCommand(
  repository: string,
  pipeline: string,
  options: PlanCommandOptions,
): Promise<number> {
  const begin = performance.now();
  const request = await rememberedRequest(repository, pipeline, options);
  if (!request) return 2;
  const sum = await planned(repository, request, options);
  if ("code" in sum) return refuse([sum], options.json);
  const { plan } = request;
  if (!options.json) {
    printInstances(sum.previews, plan, options);
    for (const line of summaryLines(sum, plan)) process.stdout.write(`${line}\n`);
    return 0;
  }
  const { previews, fetched, note, extent, gpusHere, bounds, judges, time } = sum;
  for (const preview of previews) printJson(stageLine(preview, plan));
  if (note) printJson({ event: "note", ...note });
  const actions = { run: 0, reuse: 0, stale: 0 };
  for (const { action } of previews) actions[action]++;
  const { profile, weakLimits } = plan;
  printJson({
    ...{ event: "summary", pipeline: plan.pipeline, profile, actions, cost: totalCost(previews), bounds },
    ...{ judges, downloads: downloadAmount(fetched), extent: { ...extent, gpusHere }, weakLimits, time },
    checks: checkedBefore(plan, startedIn(previews)),
    durationMs: Math.round(performance.now() - begin),
  });
  return 0;
}

/** Or why its prices cannot be used. */
async function planned(repository: string, request: Request, options: PlanCommandOptions) {
  const { plan, selected, root } = request;
  const purse = runPurse(options);
  if ("code" in purse) return purse;
  const workspace = openWorkspace({ repository, root, pipeline: plan.pipeline, profile: plan.profile });
  const gate = { workspace, stale: stalePolicy(plan, options) };
  const { previews } = await previewPlan(plan, selected, gate);
  const starts = startedIn(previews).map(({ index }) => plan.instances[index]!);
  const bounds = agentBounds(starts, purse.prices);
  if ("code" in bounds) return bounds;
  const judges = judgeBounds(starts, purse.prices);
  if ("code" in judges) return judges;
  const asked = { ...askedOf(request, gate, purse), starts };
  const downloads = toDownload(starts, asked.sources);
  const [note] = [
    (await checkProblem(request, previews, gate)) ?? [],
    ...refusals([...gpuGate(asked), ...sourceGate(asked), ...judgeGate(asked), ...priceGate(asked)]),
  ].flat();
  const starting = new Set(starts.map(({ index }) => index));
  return {
    ...{ workspace, purse, previews, bounds, judges, note },
    /** What comes from the hub. */
    fetched: "sources" in downloads ? downloads.sources : [],
    extent: totalExtent(startedIn(previews), (index) => plan.instances[index]!.execution),
    gpusHere: asked.host.gpus(selected.map((index) => plan.instances[index]!)).gpus.length,
    // an environment that is built counts, although it would wait until it is needed
    time: forecast({ plan, selected, jobs: undefined, workspace })((index) =>
      starting.has(index) ? { kind: "running", forMs: 0 } : { kind: "ended" },
    ),
  };
}

type Planned = Exclude<Awaited<ReturnType<typeof planned>>, Diagnostic>;

function summaryLines(
  { workspace, previews, fetched, note, extent, gpusHere, bounds, judges, purse, time }: Planned,
  plan: Plan,
): string[] {
  const attempts = attemptsLine(previews, plan);
  const lines = [
    attempts,
    ...boundLines(bounds, { maxDollars: purse.maxDollars, reported: plan.reported }),
    ...judgeLines(judges),
    ...(attempts === "" ? [] : powerLines(plan, workspace)),
    endWords(extent, { gpus: gpusHere, now: Date.now() }),
    fetched.length > 0 ? downloadLine(fetched) : "",
    diskWords(extent, downloadDiskBytes(fetched)),
    ...checkLines(plan, startedIn(previews)),
    weakLimitsLine(plan),
    ...noteLines(previews, note),
  ];
  const head = `${plan.pipeline} (${plan.profile}): ${summaryText(previews, time)}`;
  return ["", head, ...lines.filter((line) => line !== "")];
}

function stageLine(preview: Preview, { instances }: Plan): object {
  const { index, action, certain, reasons, expectedMs, onStale, cost } = preview;
  const { id, stage } = instances[index]!;
  return { event: "stage", stage: id, name: stage.name, action, certain, reasons, expectedMs, onStale, cost };
}

/** On a terminal lines are cut; in a pipe, and with --all, they are whole. */
function printInstances(previews: Preview[], { instances }: Plan, { all }: { all: boolean }): void {
  const planned = previews.map((preview) => {
    const { id, stage } = instances[preview.index]!;
    return { ...preview, id, stage: stage.spec.group ?? stage.name };
  });
  const width = process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
  const lines = all ? planned.map(planLine) : planLines(planned, width);
  for (const line of lines) process.stdout.write(`${inTypedForm(line)}\n`);
}

/** What the attempts that a run would start may cost, as earlier attempts cost or as their budgets allow. */
function attemptsLine(previews: Preview[], { instances }: Plan): string {
  const priced = startedIn(previews).map((preview) => {
    const { index, cost } = preview;
    return cost ? { ...preview, cost: withKeys(instances[index]!, cost) } : preview;
  });
  const total = totalCost(priced);
  if (total.attempts === 0) return "";
  const longest = priced.reduce(
    (most, { index, cost }) => Math.max(most, cost ? (instances[index]!.action.budget.timeMs ?? 0) : 0),
    0,
  );
  const each = longest > 0 ? `, each at most ${formatDuration(longest)} of work` : "";
  return `a run would start ${costWords(total)}${each}`;
}

function noteLines(previews: Preview[], note: Diagnostic | undefined): string[] {
  const left = previews.filter(
    ({ action, onStale, cost }) => action === "stale" && onStale === "leave" && cost,
  );
  const rerun = costWords(totalCost(left, true));
  return [
    ...(left.length > 0
      ? [
          `stale attempts are left as they are: --rerun would start ${rerun}; --accept-stale "reason" uses them as they are`,
        ]
      : []),
    ...(note ? [`a run would be refused: ${note.message}`, `  help: ${note.help}`] : []),
    ...(previews.some((one) => !one.certain && !isFirst(one))
      ? ["run ? : an input runs first; reused after all if that input comes out the same"]
      : []),
  ];
}
