// Supervises one attempt from outside: gives the agent its workspace, lets it work until it ends or its
// time is over, and keeps what it handed in and a record of what happened.
// An agent that fails or hands in nothing has been measured all the same; only trouble of the
// harness throws, and then there is no attempt.

import { mkdir } from "node:fs/promises";
import type { Sandbox } from "@mlrb/core/sandbox";
import { writeJson } from "@mlrb/kit/json-file";
import type { Ledger } from "@mlrb/kit/rules/ledger";
import { attachmentsIn } from "./attachments.ts";
import { attemptLedger, endedAs } from "./attempt-ledger.ts";
import { attemptMeter } from "./attempt-meter.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { folderDigest, textDigest } from "./folder-digest.ts";
import { gatewayFacts } from "./gateway/gateway-provider.ts";
import { iterationsReader } from "./iterations-reader.ts";
import { outputLog } from "./output-log.ts";
import { renderPrompt, spokenDuration } from "./render-prompt.ts";
import { runProgram } from "./run-program.ts";
import { prepareScaffold } from "./run-scaffold.ts";
import { snapshotKeeper } from "./snapshot-keeper.ts";
import { openTrajectory } from "./trajectory.ts";
import { handOverPrompt, inside, layOutWorkspace } from "./workspace.ts";

/** Runs the attempt in `sandbox`, which the caller closes. Writes all its outputs or throws. */
export async function runAttempt(sandbox: Sandbox, request: AttemptRequest): Promise<Ledger> {
  const { outputs, budgetMs, redact = (text) => text } = request;
  const budget = { timeMs: budgetMs, ...request.budget };
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
    ...(outputs.attachments !== undefined && { attachments: attachmentsIn(outputs.attachments) }),
  });
  const write = trajectory.add;
  const meter = attemptMeter({
    limits: budget,
    startedWall,
    sinceStart,
    ...(request.spending !== undefined && { file: request.spending }),
    waited: ({ why, durationMs, deadline }) =>
      write({ event: "wait", why, durationMs, deadline: new Date(deadline).toISOString() }),
  });
  try {
    await handOverPrompt(sandbox, prompt, request.scratch);
    const { timeMs: wallMs, ...purse } = budget;
    write({
      event: "start",
      task: request.task,
      agent: request.agent,
      seed: request.seed,
      kind: request.kind,
      sandbox: sandbox.kind,
      budget: { wallMs, ...purse },
      deadline: new Date(meter.deadline()).toISOString(),
      promptDigest: textDigest(prompt),
      promptTemplateDigest: textDigest(request.prompt),
      ...digests,
      limits: request.limits,
      ...scaffold?.facts,
      ...(request.gateway && { gateway: gatewayFacts(request.gateway.providers) }),
    });
    const output = outputLog({ write, redact });
    const iterations = iterationsReader({ sandbox, inside: inside.iterations, write, redact });
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

    const supervision = { sandbox, trajectory, output, iterations, snapshots, meter, sinceStart };
    const ran = scaffold
      ? await scaffold.run(supervision, { prompt, shownDeadline })
      : request.kind === "command"
        ? await runProgram(request, supervision)
        : undefined;
    const final = await snapshots.final(outputs.submission);
    write({
      event: "end",
      ended: endedAs(ran?.ending),
      ...(ran?.ending.kind === "scaffold" && { scaffold: ran.ending.end }),
      iterations: iterations.count(),
      submissionDigest: final.kind === "taken" ? final.tree.digest : null,
    });

    const ledger = attemptLedger({
      budget,
      wallMs: ran?.wallMs ?? Math.round(sinceStart()),
      workingMs: ran?.workingMs ?? Math.round(meter.workingMs()),
      spending: meter.spending(),
      ending: ran?.ending,
      final,
      trajectory: trajectory.seal(),
      gpus: request.gpus?.length ?? 0,
    });
    writeJson(`${outputs.snapshots}/index.json`, snapshots.index());
    writeJson(outputs.ledger, ledger);
    return ledger;
  } finally {
    meter.close();
    trajectory.close();
  }
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
