// Nobody pays by accident: new attempts whose estimate is over the limits need a yes before anything runs.
import { createInterface } from "node:readline/promises";
import type { Plan } from "@mlrb/core/plan";
import { type Preview, previewPlan } from "@mlrb/local/preview-plan";
import type { StalePolicy } from "@mlrb/local/run-plan";
import type { Workspace } from "@mlrb/local/workspace";

export type CostOptions = { maxCost?: string; maxGpuHours?: string; yes?: boolean };

export type TotalCost = { attempts: number; gpuHours: number; dollars: number; unknownDollars: number };

/** Sums over the attempts that would run; with `left`, over stale ones that are left too. */
export function totalCost(previews: Preview[], left = false): TotalCost {
  const total = { attempts: 0, gpuHours: 0, dollars: 0, unknownDollars: 0 };
  for (const { action, onStale, cost } of previews) {
    if (!cost || (action === "stale" && onStale === "leave" && !left)) continue;
    total.attempts++;
    total.gpuHours += cost.gpuHours;
    if (cost.dollars === null) total.unknownDollars++;
    else total.dollars += cost.dollars;
  }
  return total;
}

export function costWords({ attempts, gpuHours, dollars, unknownDollars }: TotalCost): string {
  const money = `${dollars.toFixed(2)} dollars${unknownDollars > 0 ? ` and ${unknownDollars} attempts at a price nobody knows` : ""}`;
  return `${attempts} attempt${attempts === 1 ? "" : "s"}, about ${gpuHours.toFixed(1)} GPU hours and ${money}`;
}

type Gate = { plan: Plan; selected: number[]; workspace: Workspace; stale: StalePolicy };

/** Whether the run may start; false after saying why not. */
export async function costAgreed(
  { plan, selected, workspace, stale }: Gate,
  options: CostOptions,
): Promise<boolean> {
  const mayCost = selected.some((index) => {
    const { stage, execution, action } = plan.instances[index]!;
    return stage.durable && (execution.resources.gpus > 0 || action.secrets.length > 0);
  });
  if (!mayCost || options.yes) return true;
  const limits = { gpuHours: Number(options.maxGpuHours ?? 0), dollars: Number(options.maxCost ?? 0) };
  if (Number.isNaN(limits.gpuHours) || Number.isNaN(limits.dollars)) {
    process.stderr.write("bad-limit: --max-gpu-hours and --max-cost take a number\n");
    return false;
  }
  const { previews } = await previewPlan(plan, selected, { workspace, stale });
  const cost = totalCost(previews);
  const over = cost.gpuHours > limits.gpuHours || cost.dollars > limits.dollars || cost.unknownDollars > 0;
  if (!over) return true;
  const question = `This would start ${costWords(cost)}; the limits are ${limits.gpuHours} GPU hours and ${limits.dollars} dollars.`;
  if (!process.stdin.isTTY) {
    process.stderr.write(
      `over-cost: ${question}\n  help: raise --max-gpu-hours and --max-cost, or say --yes; \`pipeline plan\` lists them\n`,
    );
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} Start? [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
