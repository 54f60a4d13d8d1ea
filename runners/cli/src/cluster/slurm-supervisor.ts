// The supervisor of an attempt whose step runs as a job of Slurm. It stays on the host that submitted, holds the secrets and
// the relay of model calls, and outlives the run. Usage as of @mlrb/local/attempts/supervisor.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { modelAddresses } from "@mlrb/agents/model/model-addresses";
import { deskOfHost } from "@mlrb/agents/waiting/host-desk";
import { intervention, interventionsFile } from "@mlrb/formats/declared/intervention";
import { readFormat } from "@mlrb/formats/read-format";
import type { StageContext } from "@mlrb/formats/stage/stage-context";
import { lastSpending } from "@mlrb/kit/attempts/last-spending";
import { heldMs } from "@mlrb/local/attempts/attempt-cost";
import { attemptFolder } from "@mlrb/local/attempts/attempt-folders";
import { waitsIn } from "@mlrb/local/attempts/attempt-waits";
import { type StartStage, type SupervisedStage, superviseAttempt } from "@mlrb/local/attempts/supervisor";
import { slurmProgram } from "@mlrb/local/process/slurm-program";
import { adoptAttemptJob, submitAttemptJob } from "@mlrb/slurm/attempt-job";
import { besideMs } from "./attempt-time.ts";

const start: StartStage = async ({ request, adopts }, folder) => {
  const { params, budget } = JSON.parse(readFileSync(join(folder, "stage.json"), "utf8")) as StageContext;
  const attempt = attemptFolder(dirname(folder), basename(folder));
  const names = attempt?.card.secrets ?? [];
  const values = names.flatMap((name) => (request.env[name] ? [[name, request.env[name]] as const] : []));
  const wanted = wantedMs(folder, budget.timeMs);
  const options = {
    ...{ folder, name: basename(folder), program: slurmProgram, routes: modelAddresses(params) },
    secrets: Object.fromEntries(values),
    ...(attempt && { ranMs: heldMs(attempt) }),
    ...{ wantedMs: wanted, times: { intervalMs: Math.min(60_000, Math.max(5_000, wanted / 1_000)) } },
  };
  const job = adopts ? adoptAttemptJob(options) : await submitAttemptJob(request, options);
  if (!job) return goneMeanwhile;
  const waiting = () => waitsIn(folder).length;
  const desk = await deskOfHost({ folder, secrets: names, take: job.take, waiting });
  // another supervisor follows the job now; the channel of model calls ends with this process
  return { ...job, close: () => desk?.close(), abandon: () => process.exit(0) };
};

/** What is left of the budget, and time to begin, to seal and to copy. */
function wantedMs(folder: string, budgetMs = defaultMs): number {
  const usedMs = lastSpending(join(folder, "spending.jsonl"))?.workingMs ?? 0;
  const wholeMs = budgetMs + addedMs(folder);
  return Math.max(0, wholeMs - usedMs) + besideMs(wholeMs);
}

/** By people who extended the attempt. */
function addedMs(folder: string): number {
  const file = join(folder, interventionsFile);
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return lines.reduce((sum, line) => {
    const reading = readFormat(intervention, line);
    return reading.kind === "ok" && reading.value.kind === "extend" ? sum + reading.value.addedMs : sum;
  }, 0);
}

/** Of a stage without a budget: the step refuses it. */
const defaultMs = 3_600_000;

const detail = "its job ended while its supervisor was dead";

/** The run submits the next job. */
const goneMeanwhile: SupervisedStage = {
  ended: Promise.resolve({ kind: "failed", cause: "machine", detail }),
  askToEnd() {},
  kill() {},
  brokenOff: () => detail,
};

await superviseAttempt(start);
