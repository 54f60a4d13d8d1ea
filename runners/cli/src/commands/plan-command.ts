// `pipeline plan`: what a run would do, and why. Runs nothing.
import { reasonWords } from "@mlrb/core/key/reasons";
import { formatDuration } from "@mlrb/core/text/units";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import { openWorkspace } from "@mlrb/local/store/workspace";
import type { CostOptions } from "../gates/cost-gate.ts";
import { gpusAsked, tooFewGpus } from "../gates/gpu-gate.ts";
import { priceGate, runPurse } from "../gates/price-gate.ts";
import { type StaleOptions, stalePolicy } from "../gates/stale-policy.ts";
import { costWords, totalCost } from "../gates/total-cost.ts";
import { type CommonOptions, readRequest, refuse } from "../request/request.ts";
import { printJson } from "../show/print-json.ts";

export type PlanCommandOptions = CommonOptions & StaleOptions & CostOptions;

export async function planCommand(
  repository: string,
  pipeline: string,
  options: PlanCommandOptions,
): Promise<number> {
  const begin = performance.now();
  const request = await readRequest(repository, pipeline, options);
  if (!request) return 2;
  const { plan, selected, root } = request;
  const purse = runPurse(options);
  if ("code" in purse) return refuse([purse], options.json);
  const workspace = openWorkspace({ repository, root, pipeline: plan.pipeline, profile: plan.profile });
  const gate = { workspace, stale: stalePolicy(plan, options) };
  const { previews } = await previewPlan(plan, selected, gate);
  const dear = await priceGate(request, gate, purse);
  const actions = { run: 0, reuse: 0, stale: 0 };
  let expectedMs = 0;
  let unknown = 0;
  for (const { index, action, onStale, certain, reasons, expectedMs: expected, cost } of previews) {
    const { id, stage } = plan.instances[index]!;
    actions[action]++;
    if (action === "run" || onStale === "rerun") {
      expectedMs += expected ?? 0;
      if (expected === undefined) unknown++;
    }
    if (options.json) {
      const line = {
        event: "stage",
        stage: id,
        name: stage.name,
        action,
        certain,
        reasons,
        expectedMs: expected,
        onStale,
        cost,
      };
      printJson(line);
    } else {
      const verb = action === "run" ? (certain ? "run  " : "run ?") : action;
      const then = onStale === "rerun" && action === "stale" ? "; runs again" : "";
      process.stdout.write(`${verb}  ${id}  (${reasons.map(reasonWords).join("; ")}${then})\n`);
    }
  }
  const note = tooFewGpus(request, previews, gpusAsked(plan, selected)) ?? dear;
  const durationMs = Math.round(performance.now() - begin);
  if (options.json) {
    if (note) printJson({ event: "note", ...note });
    const cost = totalCost(previews);
    const line = {
      event: "summary",
      pipeline: plan.pipeline,
      profile: plan.profile,
      actions,
      cost,
      durationMs,
    };
    printJson(line);
    return 0;
  }
  const work = expectedMs > 0 ? `, about ${formatDuration(expectedMs)} of work as earlier runs took` : "";
  const rest = unknown > 0 ? `, ${unknown} never timed` : "";
  const stale = actions.stale > 0 ? `, ${actions.stale} stale` : "";
  process.stdout.write(
    `\n${plan.pipeline} (${plan.profile}): ${actions.run} to run, ${actions.reuse} to reuse${stale}${work}${rest}\n`,
  );
  const left = previews.filter(
    ({ action, onStale, cost }) => action === "stale" && onStale === "leave" && cost,
  );
  if (left.length > 0) {
    const cost = costWords(totalCost(left, true));
    process.stdout.write(
      `stale attempts are left as they are: --rerun would start ${cost}; --accept-stale "reason" uses them as they are\n`,
    );
  }
  if (note) process.stdout.write(`a run would be refused: ${note.message}\n  help: ${note.help}\n`);
  if (previews.some(({ certain }) => !certain)) {
    process.stdout.write("run ? : an input runs first; reused after all if that input comes out the same\n");
  }
  return 0;
}
