// Supervises one attempt from outside: gives the agent its workspace, lets its program run until it
// ends or its time is over, and keeps what it handed in and a record of what happened.
// An agent that fails or hands in nothing has been measured all the same; only trouble of the
// harness throws, and then there is no attempt.

import { mkdir } from "node:fs/promises";
import type { Sandbox } from "@mlrb/core/sandbox";
import { writeJson } from "@mlrb/kit/json-file";
import type { Ledger } from "@mlrb/kit/rules/ledger";
import { attemptLedger, endedAs } from "./attempt-ledger.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { folderDigest, textDigest } from "./folder-digest.ts";
import { iterationsReader } from "./iterations-reader.ts";
import { outputLog } from "./output-log.ts";
import { renderPrompt, spokenDuration } from "./render-prompt.ts";
import { runProgram } from "./run-program.ts";
import { snapshotKeeper } from "./snapshot-keeper.ts";
import { openTrajectory } from "./trajectory.ts";
import { handOverPrompt, inside, layOutWorkspace } from "./workspace.ts";

/** Runs the attempt in `sandbox`, which the caller closes. Writes all four outputs or throws. */
export async function runAttempt(sandbox: Sandbox, request: AttemptRequest): Promise<Ledger> {
  const { outputs, budgetMs, redact = (text) => text } = request;
  const dataDigest = await folderDigest(request.publicData);
  const modelsDigest = request.models === undefined ? null : await folderDigest(request.models);
  const programDigest = request.program === undefined ? null : await folderDigest(request.program);
  const libraryDigest = request.library === undefined ? null : await folderDigest(request.library);
  await layOutWorkspace(sandbox, request, request.scratch);
  await mkdir(outputs.snapshots, { recursive: true });

  const startedWall = Date.now();
  const started = performance.now();
  const sinceStart = () => performance.now() - started;
  const deadline = startedWall + budgetMs;
  const prompt = renderPrompt(request.prompt, {
    deadline: new Date(deadline).toISOString().replace(/\.\d+Z$/, "Z"),
    budget: spokenDuration(budgetMs),
    seed: String(request.seed),
  });

  const trajectory = openTrajectory(outputs.trajectory, () => ({
    wall: Date.now(),
    sinceStart: sinceStart(),
  }));
  const write = trajectory.add;
  try {
    await handOverPrompt(sandbox, prompt, request.scratch);
    write({
      event: "start",
      task: request.task,
      agent: request.agent,
      seed: request.seed,
      kind: request.kind,
      sandbox: sandbox.kind,
      budget: { wallMs: budgetMs },
      deadline: new Date(deadline).toISOString(),
      promptDigest: textDigest(prompt),
      promptTemplateDigest: textDigest(request.prompt),
      dataDigest,
      modelsDigest,
      programDigest,
      libraryDigest,
      limits: request.limits,
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

    const supervision = { sandbox, trajectory, output, iterations, snapshots, deadline, sinceStart };
    const ran = request.kind === "command" ? await runProgram(request, supervision) : undefined;
    const wallMs = ran?.wallMs ?? Math.round(sinceStart());
    const final = await snapshots.final(outputs.submission);
    write({
      event: "end",
      ended: endedAs(ran?.ending),
      iterations: iterations.count(),
      submissionDigest: final.kind === "taken" ? final.tree.digest : null,
    });

    const seen = {
      budgetMs,
      wallMs,
      ending: ran?.ending,
      final,
      trajectory: trajectory.seal(),
      gpus: request.gpus?.length ?? 0,
    };
    const ledger = attemptLedger(seen);
    writeJson(`${outputs.snapshots}/index.json`, snapshots.index());
    writeJson(outputs.ledger, ledger);
    return ledger;
  } finally {
    trajectory.close();
  }
}
