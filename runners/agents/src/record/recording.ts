// A recorded attempt, to be replayed: its trajectory and attachments, as the attempt wrote them, and the files that it
// had in submission/. A recording is untrusted: each problem is reported with its line.

import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type LongText,
  type ModelCallEvent,
  type ToolResultEvent,
  type TrajectoryEvent,
  trajectoryEvent,
} from "@mlrb/formats/attempt/trajectory";
import { llmSpecs } from "@mlrb/formats/declared/agent-preset";
import { checkFormat, readFormat } from "@mlrb/formats/read-format";
import { json, jsonObject } from "@mlrb/formats/schema";
import { splitLines } from "@mlrb/kit/attempts/split-lines";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import type { ModelResponse, ToolCall } from "../model/model-client.ts";
import { wholeText } from "./attachments.ts";
import type { RecordedCall } from "./replayed-tools.ts";

export type Recording = Exclude<Awaited<ReturnType<typeof readRecording>>, string>;

/** Only these events are replayed, so unknown events of later versions do no harm. */
const replayed = new Set<unknown>(["start", "reminder", "model-call", "tool-result", "snapshot"]);

/** Reads `folder` (trajectory.jsonl, attachments/). A text describes the problem. */
export async function readRecording(folder: string) {
  const path = join(folder, "trajectory.jsonl");
  const attachments = join(folder, "attachments");
  const check = await verifyTrajectory(path);
  if (check.kind === "broken")
    return `${path}:${check.line}: ${check.reason}; use the recording as the attempt wrote it`;
  const calls: RecordedAnswer[] = [];
  const results: RecordedCall[] = [];
  /** The reminders that the model got, with the look that found them due. */
  const reminders: { look: number; text: string }[] = [];
  let begin: Partial<Extract<TrajectoryEvent, { event: "start" }>> = {};
  let line = 0;
  for await (const text of splitLines(path)) {
    line++;
    const value: unknown = JSON.parse(text.toString());
    const reading = checkFormat(trajectoryEvent, value);
    if (reading.kind === "unreadable") {
      if (!replayed.has((Object(value) as { event?: unknown }).event)) continue;
      return `${path}:${line}: ${reading.cause}`;
    }
    const call = reading.value;
    if (call.event === "start") begin = call;
    if (call.event === "reminder") reminders.push(call);
    if (call.event === "tool-result") {
      const result = resultOf(call, attachments);
      if (typeof result === "string") return `${path}:${line}: ${result}`;
      results.push({ name: call.name, durationMs: call.durationMs, result });
    }
    if (call.event === "snapshot") addSubmission(results, { folder, name: call.name });
    if (call.event !== "model-call") continue;
    const response = responseOf(call, attachments);
    if (typeof response === "string") return `${path}:${line}: ${response}`;
    const { by, requestDigest, durationMs } = call;
    calls.push({ call: call.call, by, requestDigest, durationMs, response });
  }
  if (!begin.model || !begin.scaffold)
    return `${path}:1: it names no model and scaffold; only attempts of llm agents can be replayed`;
  const model = checkFormat(llmSpecs.model, begin.model);
  const scaffold = checkFormat(llmSpecs.scaffold, begin.scaffold);
  if (model.kind === "unreadable") return `${path}:1: model: ${model.cause}`;
  if (scaffold.kind === "unreadable") return `${path}:1: scaffold: ${scaffold.cause}`;
  return { model: model.value, scaffold: scaffold.value, calls, results, reminders };
}

type RecordedAnswer = Pick<ModelCallEvent, "call" | "by" | "requestDigest" | "durationMs"> & {
  response: ModelResponse;
};

/** Of a snapshot that the record still has, its files; of the last one, those of the submission. */
function addSubmission(results: RecordedCall[], { folder, name }: { folder: string; name: string }): void {
  // submit changes no file, and nothing can be put into the sandbox after it
  const before = results.at(name === "final" ? -2 : -1);
  const kept = name === "final" ? join(folder, "submission") : join(folder, "snapshots", name);
  if (before && existsSync(kept)) before.submission = kept;
}

/** A text describes the problem. */
function resultOf({ outcome, exit, text, rest, executed }: ToolResultEvent, attachments: string) {
  const found = wholeText(text, attachments);
  if (!found.whole && typeof text !== "string")
    return `attachments/${text.digest} is missing or was changed; copy it too`;
  return {
    ...{ outcome, executed, text: found.text },
    ...(exit && { exit }),
    ...(rest !== null && { rest }),
  };
}

/** A text describes the problem. */
export function responseOf(event: ModelCallEvent, attachments: string): ModelResponse | string {
  const problems: string[] = [];
  const whole = (text: LongText): string => {
    const found = wholeText(text, attachments);
    if (!found.whole && typeof text !== "string")
      problems.push(`attachments/${text.digest} is missing or was changed; copy it too`);
    return found.text;
  };
  const parsed = <Schema extends object>(schema: Schema, text: LongText, what: string) => {
    const reading = readFormat(schema, whole(text));
    if (reading.kind === "ok") return reading.value;
    problems.push(`${what}: ${reading.cause}`);
    return undefined;
  };
  const toolCalls = event.toolCalls.map(({ id, name, input, malformed }): ToolCall => {
    if (malformed) return { id, name, malformed: whole(input) };
    return { id, name, input: parsed(jsonObject, input, `the input of ${name}`) ?? {} };
  });
  const response: ModelResponse = {
    text: whole(event.text),
    reasoning: event.reasoning === null ? null : whole(event.reasoning),
    toolCalls,
    finish: event.finish,
    usage: event.usage,
    answeredBy: event.answeredBy,
    ...(event.raw !== undefined && { raw: parsed(json, event.raw, "raw") ?? null }),
  };
  return problems[0] ?? response;
}
