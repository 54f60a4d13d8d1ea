// The parts of a replay: a recording answers in place of the model, and its tool results in place of programs. With
// live tools the programs run again, in their own time.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { ModelSpec, ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import type { ModelClient } from "../model/model-client.ts";
import { readAuthored } from "../record/authored.ts";
import { type Recording, readRecording } from "../record/recording.ts";
import { replayClient } from "../record/replay-client.ts";
import { ReplayClock } from "../record/replay-clock.ts";
import { ReplayMiss } from "../record/replay-miss.ts";
import { ReplayedTools } from "../record/replayed-tools.ts";
import type { DigestRequest } from "../record/request-digest.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { inside } from "./workspace.ts";

export type Replay = {
  facts: NonNullable<Ledger["replay"]>;
  reminders: Recording["reminders"];
  /** Undefined with live tools, which take their own time. */
  clock: ReplayClock | undefined;
  /** Undefined if all tools run and the requests show whether they do as recorded. */
  toolsOf?(sandbox: Sandbox): ReplayedTools;
};

type ReplayParts = {
  model: ModelSpec;
  scaffold: ScaffoldSpec;
  clientOf(model: ModelSpec, digestOf: DigestRequest): ModelClient;
  replay: Replay;
};

/** Throws, with the way out, if the recording cannot be replayed. */
export async function replayParts(request: AttemptRequest): Promise<ReplayParts> {
  const { agent, recording } = request;
  if (recording === undefined)
    throw new ReplayMiss(
      `agent "${agent}" is of kind replay and names no recording; write \`recording: FOLDER\` in its preset`,
    );
  const isTrajectory = existsSync(join(recording, "trajectory.jsonl"));
  return isTrajectory ? recordedParts(request, recording) : authoredParts(request, recording);
}

/** Of an attempt that a model made: replaying it costs nothing. */
async function recordedParts(
  { agent, liveTools = false }: AttemptRequest,
  folder: string,
): Promise<ReplayParts> {
  const read = await readRecording(folder);
  if (typeof read === "string") throw new ReplayMiss(`the recording of agent "${agent}": ${read}`);
  const { model, scaffold, reminders, calls, results } = read;
  if (!liveTools && !existsSync(join(folder, "submission")))
    throw new ReplayMiss(
      `the recording of agent "${agent}" has no files; copy submission/ and snapshots/ of the record into ${folder}, or run it with --live-tools`,
    );
  const clock = liveTools
    ? undefined
    : new ReplayClock([...calls, ...results].reduce((sum, { durationMs }) => sum + durationMs, 0));
  const left = [...results];
  return {
    model: { ...model, free: true },
    scaffold: { ...scaffold, ...(scaffold.planner && { planner: { ...scaffold.planner, free: true } }) },
    clientOf: (asked, digestOf) => replayClient({ ...read, model: asked }, { digestOf, clock }),
    replay: {
      ...{ facts: { recording: "recorded", tools: liveTools ? "live" : "recorded" }, reminders, clock },
      ...(!liveTools && {
        toolsOf: (sandbox: Sandbox) =>
          new ReplayedTools(() => left.shift(), { put: putInto(sandbox), clock }),
      }),
    },
  };
}

const putInto = (sandbox: Sandbox) => (folder: string) => sandbox.put(folder, inside.submission);

function authoredParts(
  { task, agent, seed, liveTools = false }: AttemptRequest,
  folder: string,
): ReplayParts {
  const authored = readAuthored(folder, { task, agent, seed: String(seed) });
  if (typeof authored === "string") throw new ReplayMiss(authored);
  const clock = liveTools ? undefined : new ReplayClock(authored.totalMs);
  return {
    model: authored.model,
    scaffold: authored.scaffold,
    clientOf: () => authored.client(clock),
    replay: {
      ...{ facts: { recording: "authored", tools: liveTools ? "live" : "recorded" }, reminders: [], clock },
      toolsOf: (sandbox) => new ReplayedTools(() => authored.nextCall(), { put: putInto(sandbox), clock }),
    },
  };
}
