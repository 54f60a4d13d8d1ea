// The supervisor of an attempt whose step runs as a job of Slurm. It stays on the host that submitted, holds the
// secrets and the relay of model calls, and outlives the run. Usage as of @mlrb/local/attempts/supervisor.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { modelAddresses } from "@mlrb/agents/model/agent-models";
import { deskOfHost } from "@mlrb/agents/waiting/host-desk";
import { interventionSums, interventionsIn } from "@mlrb/agents/waiting/interventions";
import { patience } from "@mlrb/agents/waiting/patience";
import { pauseFile } from "@mlrb/core/ports/attempt-wait";
import { interventionsFile } from "@mlrb/formats/declared/intervention";
import type { StageContext } from "@mlrb/formats/stage/stage-context";
import { heldClaim } from "@mlrb/kit/attempts/attempt-claim";
import { lastSpending } from "@mlrb/kit/attempts/last-spending";
import { atRelayedAddress, relayedAddress } from "@mlrb/kit/attempts/service-addresses";
import { heldMs } from "@mlrb/local/attempts/attempt-cost";
import { attemptFolder } from "@mlrb/local/attempts/attempt-folders";
import { waitsIn } from "@mlrb/local/attempts/attempt-waits";
import { type StartStage, type SupervisedStage, superviseAttempt } from "@mlrb/local/attempts/supervisor";
import { clearForNextJob } from "@mlrb/local/resume/clear-for-resume";
import { AttemptChain } from "@mlrb/slurm/attempt-chain";
import { adoptAttemptJob, submitAttemptJob } from "@mlrb/slurm/attempt-job";
import { RelayServer } from "@mlrb/slurm/relay/relay-server";
import { besideMs } from "./attempt-time.ts";
import { slurmProgram } from "./slurm-program.ts";

const start: StartStage = async ({ request, adopts }, folder) => {
  const attempt = attemptFolder(dirname(folder), basename(folder));
  if (!attempt) throw new Error("its card is gone");
  const { name, card } = attempt;
  const { params, waits } = contextOf(folder);
  const values = card.secrets.flatMap((one) => (request.env[one] ? [[one, request.env[one]] as const] : []));
  const routes = modelAddresses(params);
  const relay = new RelayServer({
    ...{ attempt: name, secrets: Object.fromEntries(values), locate: (url) => atRelayedAddress(url, folder) },
    routes: routes.map((route) => ({ ...route, address: relayedAddress(route.address) })),
  });
  const options = () => {
    const wanted = wantedMs(folder);
    return {
      ...{ folder, name, program: slurmProgram, secrets: values.map(([one]) => one) },
      ...{ relay: routes.length > 0 ? relay : undefined, wantedMs: wanted },
      ranMs: heldMs(attempt),
      times: { intervalMs: Math.min(60_000, Math.max(5_000, wanted / 1_000)) },
    };
  };
  const job = adopts ? adoptAttemptJob(options()) : await submitAttemptJob(request, options());
  if (!job) return goneMeanwhile;
  const isOwn = heldClaim(folder);
  // another supervisor follows the job now; the channel of model calls ends with this process
  const abandon = () => process.exit(0);
  const chain = new AttemptChain(job, {
    waitMs: waits?.operatorMs ?? patience.operatorMs,
    answers: () => lastSpending(join(folder, "spending.jsonl"))?.calls ?? 0,
    isPaused: () => existsSync(join(folder, pauseFile)),
    next(ended, after) {
      if (!isOwn()) abandon();
      const again = adopts ? ended.request() : request;
      // what it made is complete, and a run keeps it once it is seen here
      if (!again || ended.hasSucceeded()) return undefined;
      clearForNextJob(attempt);
      return submitAttemptJob(again, { ...options(), after });
    },
  });
  const desk = await deskOfHost({
    ...{ folder, secrets: card.secrets, waiting: () => waitsIn(folder).length },
    take(more) {
      relay.take(more);
      chain.resumed();
    },
  });
  return {
    ...{ ended: chain.ended, began: chain.began, abandon, close: () => desk?.close() },
    ...{ askToEnd: () => chain.askToEnd(), kill: () => chain.kill() },
    ...{ brokenOff: () => chain.brokenOff(), ranMs: () => chain.ranMs() },
  };
};

function contextOf(folder: string): StageContext {
  return JSON.parse(readFileSync(join(folder, "stage.json"), "utf8")) as StageContext;
}

/** What is left of the budget, and time to begin, to seal and to copy. */
function wantedMs(folder: string): number {
  const { timeMs: budgetMs = defaultMs } = contextOf(folder).budget;
  const usedMs = lastSpending(join(folder, "spending.jsonl"))?.workingMs ?? 0;
  const wholeMs = budgetMs + addedMs(folder);
  return Math.max(0, wholeMs - usedMs) + besideMs(wholeMs);
}

/** By people who extended the attempt. */
function addedMs(folder: string): number {
  const file = join(folder, interventionsFile);
  return existsSync(file) ? interventionSums(interventionsIn(readFileSync(file, "utf8"))).addedMs : 0;
}

/** Of a stage without a budget: the step refuses it. */
const defaultMs = 3_600_000;

const detail = "its job ended while its supervisor was dead";

/** The run starts the supervisor again. */
const goneMeanwhile: SupervisedStage = {
  ended: Promise.resolve({ kind: "failed", cause: "machine", detail }),
  askToEnd() {},
  kill() {},
  brokenOff: () => detail,
};

await superviseAttempt(start);
