// The parts of a replay: a recording answers in place of the model, and its tool results in place of programs. With
// live tools the programs run again, in their own time.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import { readAuthored } from "../record/authored.ts";
import { type Recording, readRecording } from "../record/recording.ts";
import { replayClient } from "../record/replay-client.ts";
import { ReplayClock } from "../record/replay-clock.ts";
import { ReplayMiss } from "../record/replay-miss.ts";
import { replayedTools } from "../record/replayed-tools.ts";
import type { DigestRequest } from "../record/request-digest.ts";
import type { ToolReplay } from "../scaffold/scaffold.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { inside } from "./workspace.ts";

export type Replay = {
  facts: NonNullable<Ledger["replay"]>;
  reminders: Recording["reminders"];
  /** Undefined with live tools, which take their own time. */
  clock: ReplayClock | undefined;
  /** Undefined if all tools run and the requests show whether they do as recorded. */
  toolsOf?(sandbox: Sandbox): ToolReplay;
};

/** Throws, with the way out, if the recording cannot be replayed. */
export async function replayParts(request: AttemptRequest) {
  const { agent, recording, liveTools = false } = request;
  if (recording === undefined)
    throw new ReplayMiss(
      `agent "${agent}" is of kind replay and names no recording; write \`recording: FOLDER\` in its preset`,
    );
  const kind = existsSync(join(recording, "trajectory.jsonl")) ? "recorded" : "authored";
  const parts =
    kind === "recorded" ? await recordedParts(request, recording) : authoredParts(request, recording);
  const { model, scaffold, reminders, totalMs, nextCall } = parts;
  const clock = liveTools ? undefined : new ReplayClock(totalMs);
  const replay: Replay = {
    ...{ facts: { recording: kind, tools: liveTools ? "live" : "recorded" }, reminders, clock },
    ...((clock || kind === "authored") && {
      toolsOf: (sandbox) =>
        replayedTools(nextCall, { put: (folder) => sandbox.put(folder, inside.submission), clock }),
    }),
  };
  return { model, scaffold, clientOf: parts.clientOf(clock), replay };
}

/** Of an attempt that a model made: replaying it costs nothing. */
async function recordedParts({ agent, liveTools = false }: AttemptRequest, folder: string) {
  const read = await readRecording(folder);
  if (typeof read === "string") throw new ReplayMiss(`the recording of agent "${agent}": ${read}`);
  const { model, scaffold, reminders, calls, results } = read;
  if (!liveTools && !existsSync(join(folder, "submission")))
    throw new ReplayMiss(
      `the recording of agent "${agent}" has no files; copy submission/ and snapshots/ of the record into ${folder}, or run it with --live-tools`,
    );
  const left = [...results];
  return {
    ...{ model: { ...model, free: true }, reminders },
    scaffold: { ...scaffold, ...(scaffold.planner && { planner: { ...scaffold.planner, free: true } }) },
    totalMs: [...calls, ...results].reduce((sum, { durationMs }) => sum + durationMs, 0),
    clientOf: (clock: ReplayClock | undefined) => (asked: ModelSpec, digestOf: DigestRequest) =>
      replayClient({ ...read, model: asked }, { digestOf, clock }),
    nextCall: () => left.shift(),
  };
}

function authoredParts({ task, agent, seed }: AttemptRequest, folder: string) {
  const authored = readAuthored(folder, { task, agent, seed: String(seed) });
  if (typeof authored === "string") throw new ReplayMiss(authored);
  const clientOf = (clock: ReplayClock | undefined) => () => authored.client(clock);
  return { ...authored, reminders: [], clientOf };
}
