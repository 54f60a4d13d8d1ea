// The supervisor of an attempt whose step runs as a job of Slurm. It stays on the host that submitted, holds the secrets and
// the relay of model calls, and outlives the run. Usage as of @mlrb/local/attempts/supervisor.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { modelAddresses } from "@mlrb/agents/model/model-addresses";
import { deskOfHost } from "@mlrb/agents/waiting/host-desk";
import { interventionSums, interventionsIn } from "@mlrb/agents/waiting/interventions";
import { patience } from "@mlrb/agents/waiting/patience";
import { pauseFile } from "@mlrb/core/ports/attempt-wait";
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import { interventionsFile } from "@mlrb/formats/declared/intervention";
import type { StageContext } from "@mlrb/formats/stage/stage-context";
import { heldClaim } from "@mlrb/kit/attempts/attempt-claim";
import { hasTravelled } from "@mlrb/kit/attempts/checkpoint-parcel";
import { lastSpending } from "@mlrb/kit/attempts/last-spending";
import { atRelayedAddress, relayedAddress } from "@mlrb/kit/attempts/service-addresses";
import { heldMs } from "@mlrb/local/attempts/attempt-cost";
import { attemptFolder } from "@mlrb/local/attempts/attempt-folders";
import { waitsIn } from "@mlrb/local/attempts/attempt-waits";
import { type StartStage, type SupervisedStage, superviseAttempt } from "@mlrb/local/attempts/supervisor";
import { attemptFiles } from "@mlrb/local/parcels/attempt-files";
import { takeUpdate } from "@mlrb/local/parcels/attempt-state";
import { clearForNextJob } from "@mlrb/local/resume/clear-for-resume";
import { outputPaths } from "@mlrb/local/stage/output-paths";
import { AttemptChain } from "@mlrb/slurm/attempt-chain";
import { type AttemptTravel, adoptAttemptJob, submitAttemptJob } from "@mlrb/slurm/attempt-job";
import { RelayServer } from "@mlrb/slurm/relay/relay-server";
import { attemptPost } from "../run/job-post.ts";
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
  const travels = request.booked?.slurm?.files === "remote-cache" || hasTravelled(folder);
  const options = () => {
    const wanted = wantedMs(folder);
    return {
      ...{ folder, name, program: slurmProgram, secrets: values.map(([one]) => one) },
      ...{ relay: routes.length > 0 || travels ? relay : undefined, wantedMs: wanted },
      ranMs: heldMs(attempt),
      ...(travels && { travel: travelOf(folder, card.gives) }),
      times: { intervalMs: Math.min(60_000, Math.max(5_000, wanted / 1_000)) },
    };
  };
  const first = options();
  // its end is in the cache, and another job would repeat its work
  if (adopts && travels && !first.travel?.post) return untilNamed;
  const job = adopts ? adoptAttemptJob(first) : await submitAttemptJob(request, first);
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

function travelOf(folder: string, gives: AttemptCard["gives"]): AttemptTravel {
  const files = attemptFiles(folder, outputPaths(folder, gives));
  return {
    post: attemptPost(folder),
    state: (update) => takeUpdate(update, files),
    grown: files.appended,
  };
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

const noCache =
  "its files travel through a remote cache, and none is named: set MLRB_REMOTE_CACHE and run again";

/** Its job goes on. */
const untilNamed: SupervisedStage = {
  ended: Promise.resolve({ kind: "failed", cause: "operator", detail: noCache }),
  askToEnd() {},
  kill() {},
  brokenOff: () => noCache,
};

/** The run starts the supervisor again. */
const goneMeanwhile: SupervisedStage = {
  ended: Promise.resolve({ kind: "failed", cause: "machine", detail }),
  askToEnd() {},
  kill() {},
  brokenOff: () => detail,
};

await superviseAttempt(start);
