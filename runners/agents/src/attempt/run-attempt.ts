// Supervises one attempt from outside: gives the agent its workspace, lets it work until it ends or its
// time is over, and keeps what it handed in and a record of what happened.
// An agent that fails or hands in nothing has been measured all the same; only trouble of the
// harness throws, and then there is no attempt.

import { mkdir } from "node:fs/promises";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { UsedPrice } from "@mlrb/formats/attempt/used-price";
import { releaseReserved, reserveFile } from "@mlrb/kit/files/full-disk";
import { sealTimes } from "@mlrb/kit/processes/seal-times";
import { folderDigest, textDigest } from "../folders/folder-digest.ts";
import { gatewayFacts } from "../gateway/gateway-provider.ts";
import { type AgentModel, priceHelp, unpriced } from "../model/agent-models.ts";
import { type PriceBook, priceBook, usedPrice } from "../model/prices.ts";
import { attachmentsIn } from "../record/attachments.ts";
import { iterationsReader } from "../record/iterations-reader.ts";
import { outputLog } from "../record/output-log.ts";
import { openTrajectory } from "../record/trajectory.ts";
import { attemptMeter } from "./attempt-meter.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { frozenTime } from "./frozen-time.ts";
import { watchGpus } from "./gpu-busy.ts";
import { overdue } from "./interruption.ts";
import { renderPrompt, spokenDuration } from "./render-prompt.ts";
import { runProgram } from "./run-program.ts";
import { prepareScaffold } from "./run-scaffold.ts";
import {
  ledgerBytes,
  reservedBytes,
  type Seal,
  sealEnded,
  sealInterrupted,
  snapshotsIndex,
} from "./seal-attempt.ts";
import { snapshotKeeper } from "./snapshot-keeper.ts";
import { deadlineTeller, handOverPrompt, inside, layOutWorkspace, tellDeadline } from "./workspace.ts";

/** Runs the attempt in `sandbox`, which the caller closes. Writes all its outputs or throws. */
export async function runAttempt(sandbox: Sandbox, asked: AttemptRequest): Promise<Ledger> {
  const { prices = priceBook([]) } = asked;
  const request = { ...asked, prices };
  const { outputs, budget, redact = (text) => text } = request;
  const { timeMs: budgetMs } = budget;
  checkPrices(request);
  const scaffold = await prepareScaffold(request); // what is wrong with it costs no time of the attempt
  const digests = await givenDigests(request);
  await layOutWorkspace(sandbox, request, request.scratch);
  await mkdir(outputs.snapshots, { recursive: true });
  if (outputs.attachments !== undefined) await mkdir(outputs.attachments, { recursive: true });

  const startedWall = Date.now();
  const started = performance.now();
  const sinceStart = () => performance.now() - started;
  const shownDeadline = isoSeconds(startedWall + budgetMs);
  const prompt = renderPrompt(request.prompt, {
    deadline: shownDeadline,
    budget: spokenDuration(budgetMs),
    seed: String(request.seed),
  });

  const trajectory = openTrajectory(outputs.trajectory, {
    now: () => ({ wall: Date.now(), sinceStart: sinceStart() }),
    redact,
    makeRoom: () => releaseReserved(outputs.trajectory),
    ...(outputs.attachments !== undefined && { attachments: attachmentsIn(outputs.attachments) }),
  });
  const write = trajectory.add;
  const tellsDeadline = scaffold?.tellsDeadline ?? true;
  const frozen = frozenTime(sandbox, sinceStart);
  const meter = attemptMeter({
    frozen,
    makeRoom: () => releaseReserved(outputs.trajectory),
    limits: budget,
    startedWall,
    sinceStart,
    ...(request.purse !== undefined && { cap: request.purse.cap }),
    ...(request.spending !== undefined && { file: request.spending }),
    waited: ({ deadline, ...wait }) =>
      write({ event: "wait", ...wait, deadline: new Date(deadline).toISOString() }),
    ...(tellsDeadline && { moved: deadlineTeller(sandbox, request.scratch) }),
  });
  const pauseMs = Math.min(15_000, Math.max(500, budgetMs / 500));
  const busy = watchGpus(request.gpus ?? [], { now: sinceStart, pauseMs });
  const snapshots = snapshotKeeper({
    sandbox,
    inside: inside.submission,
    folder: outputs.snapshots,
    limits: request.limits,
    snapshotsMax: 40,
    bytesMax: 2 * request.limits.bytesMax,
    pauseMs: request.pauseMs ?? Math.max(1000, budgetMs / 100),
    budgetMs,
    write,
  });
  const output = outputLog({ write, redact });
  const iterations = iterationsReader({ sandbox, inside: inside.iterations, write, redact });
  const progress = {};
  const seal: Seal = {
    request,
    budget,
    meter,
    trajectory,
    snapshots,
    iterations,
    busy,
    sinceStart,
    progress,
  };
  const toItsEnd = async () => {
    reserveFile(outputs.trajectory, reservedBytes);
    for (const path of [snapshotsIndex(outputs), outputs.ledger]) reserveFile(path, ledgerBytes);
    request.interrupted?.throwIfAborted();
    await handOverPrompt(sandbox, prompt, { scratch: request.scratch, tellsDeadline });
    if (tellsDeadline) await tellDeadline(sandbox, meter.deadline(), request.scratch);
    const { timeMs, ...purse } = budget;
    write({
      event: "start",
      task: request.task,
      agent: request.agent,
      seed: request.seed,
      kind: request.kind,
      sandbox: sandbox.kind,
      budget: { wallMs: timeMs, ...purse },
      deadline: new Date(meter.deadline()).toISOString(),
      promptDigest: textDigest(prompt),
      promptTemplateDigest: textDigest(request.prompt),
      ...digests,
      limits: request.limits,
      ...(tellsDeadline && { deadlineFile: inside.deadline }),
      ...scaffold?.facts,
      ...(request.gateway && { gateway: gatewayFacts(request.gateway.providers) }),
    });
    request.purse?.onCarried((by) =>
      write({ event: "purse", ...by, prices: pricesOf(calledModels(request), prices) }),
    );
    const supervision = { sandbox, trajectory, output, iterations, snapshots, meter, frozen, sinceStart };
    const ran = scaffold
      ? await scaffold.run(supervision, { prompt, shownDeadline })
      : request.kind === "command"
        ? await runProgram(request, supervision)
        : undefined;
    return await sealEnded(seal, ran);
  };
  try {
    // whatever takes longer than a person or a machine grants is left where it is
    return await Promise.race([toItsEnd(), overdue(request.interrupted, sealTimes.begin)]);
  } catch (error) {
    const ledger = await sealInterrupted(seal, error);
    if (ledger) return ledger;
    throw error;
  } finally {
    for (const path of [outputs.trajectory, outputs.ledger, snapshotsIndex(outputs)]) releaseReserved(path);
    busy.stop();
    meter.close();
    trajectory.close();
  }
}

/** A limit of dollars cannot be held over calls whose price nobody knows. The run's plan was refused for it already. */
function checkPrices(request: AttemptRequest & { prices: PriceBook }): void {
  const { agent, budget, purse, prices } = request;
  if (budget?.dollars === undefined && purse?.cap.maxDollars() === undefined) return;
  const unknown = unpriced(calledModels(request), prices);
  if (unknown.length === 0) return;
  const names = unknown.map(({ provider, id }) => `${provider} ${id}`).join(", ");
  throw new Error(
    `agent "${agent}" has a limit of dollars, and no price is known of ${names}: ${priceHelp(unknown)}`,
  );
}

function calledModels({ kind, llm, gateway }: AttemptRequest): AgentModel[] {
  if (gateway)
    return gateway.providers.flatMap(({ name, ids, free }) =>
      ids.map((id) => ({ provider: name, id, free })),
    );
  if (kind !== "llm" || !llm) return [];
  return [{ provider: llm.model.provider, id: llm.model.id, free: llm.model.free === true }];
}

function pricesOf(models: AgentModel[], prices: PriceBook): UsedPrice[] {
  return models.flatMap(({ provider, id: model, free }) => {
    const price = free ? undefined : prices.priceOf(provider, model);
    return price === undefined ? [] : [usedPrice({ provider, model, price })];
  });
}

async function givenDigests({ publicData, models, program, library }: AttemptRequest) {
  const digest = (folder: string | undefined) => (folder === undefined ? null : folderDigest(folder));
  return {
    dataDigest: await digest(publicData),
    modelsDigest: await digest(models),
    programDigest: await digest(program),
    libraryDigest: await digest(library),
  };
}

function isoSeconds(wall: number): string {
  return new Date(wall).toISOString().replace(/\.\d+Z$/, "Z");
}
