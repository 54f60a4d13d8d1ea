// `pipeline status`: prints progress, what runs now, what failed, and what to do next. Only reads and never waits,
// so that it can be called during a run.
import { type HeldGpu, heldGpus } from "@mlrb/local/leases/gpu-leases";
import { readStates } from "../attempts/read-states.ts";
import { troublesOf } from "../attempts/troubles.ts";
import { rememberedRequest } from "../request/remembered-request.ts";
import type { CommonOptions } from "../request/request.ts";
import { nextSteps } from "../run/next-steps.ts";
import { printJson } from "../show/print.ts";
import { ofOwnPlan, statusOf } from "../show/status.ts";
import { statusText } from "../show/status-text.ts";

export async function statusCommand(
  repository: string,
  pipeline: string,
  options: CommonOptions & { all: boolean },
): Promise<number> {
  const begin = performance.now();
  const request = await rememberedRequest(repository, pipeline, options);
  if (!request) return 2;
  const read = await readStates(repository, request);
  const { state } = read.workspace;
  const { waits: waiting } = read;
  const at = { state, slot: request.plan, waits: waiting, asked: { pipeline, options } };
  const all = statusOf(request.plan, {
    ...read,
    gpus: gpusNow(),
    troubles: (failed) => troublesOf(failed, at),
  });
  const status = options.json ? all : ofOwnPlan(all, request.plan);
  const next = nextSteps(status, { pipeline, options });
  if (!options.json) {
    process.stdout.write(statusText(status, { next, now: Date.now(), root: options.root, all: options.all }));
    return 0;
  }
  const { stages, runs, orphans, waits, damaged, gpus, failed, troubles, publishes: _, ...summary } = status;
  const lines = [
    ...stages.map((stage) => ({ event: "stage-status", ...stage })),
    ...runs.map((run) => ({ event: "live-run", ...run })),
    ...orphans.map((one) => ({ event: "attempt-without-run", ...one })),
    ...waits.map((one) => ({ event: "attempt-waits", ...one })),
    ...damaged.map((why) => ({ event: "attempt-damaged", why })),
    ...gpus.map((gpu) => ({ event: "held-gpu", ...gpu })),
    ...failed.map((one) => ({ event: "failed", ...one })),
    ...troubles.map((one) => ({ event: "trouble", ...one })),
    { event: "summary", ...summary, next, durationMs: Math.round(performance.now() - begin) },
  ];
  for (const line of lines) printJson(line);
  return 0;
}

function gpusNow(): HeldGpu[] {
  try {
    return heldGpus();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`); // the rest of the status is still known
    return [];
  }
}
