// A recorded attempt, to be replayed: its trajectory and attachments, as the attempt gave them. Only what a model
// said is taken from it; tools run again. A recording is a stranger's file: each problem is told with its line.
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { LongText, ModelCallEvent } from "@mlrb/formats/trajectory";
import type { Json } from "@mlrb/kit/stage";
import { verifyTrajectory } from "@mlrb/kit/verify-trajectory";
import { wholeText } from "./attachments.ts";
import type { ModelResponse, ModelSpec, ToolCall } from "./model/model-client.ts";
import type { ScaffoldSpec } from "./scaffold/scaffold.ts";

type RecordedCall = { call: number; by: string; requestDigest: string; response: ModelResponse };

export type Recording = {
  model: ModelSpec;
  scaffold: ScaffoldSpec;
  calls: RecordedCall[];
  /** What the model was reminded of, with the look that found it. */
  reminders: { look: number; text: string }[];
  /** Whether the workspace had a file with the deadline, which TASK.md named. */
  tellsDeadline: boolean;
};

/** Reads `folder` (trajectory.jsonl, attachments/); a text says what is wrong with it. */
export async function readRecording(folder: string): Promise<Recording | string> {
  const path = join(folder, "trajectory.jsonl");
  const attachments = join(folder, "attachments");
  const check = await verifyTrajectory(path);
  if (check.kind === "broken")
    return `${path}:${check.line}: ${check.reason}; take the recording as the attempt gave it`;
  const calls: RecordedCall[] = [];
  const reminders: Recording["reminders"] = [];
  let begin: { model?: ModelSpec; scaffold?: ScaffoldSpec; deadlineFile?: string } = {};
  let line = 0;
  for await (const text of createInterface({
    input: createReadStream(path),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    line++;
    const event = JSON.parse(text) as { event: string };
    if (event.event === "start") begin = event as typeof begin;
    if (event.event === "reminder") reminders.push(event as unknown as Recording["reminders"][number]);
    if (event.event !== "model-call") continue;
    const call = event as ModelCallEvent;
    const response = responseOf(call, attachments);
    if (typeof response === "string") return `${path}:${line}: ${response}`;
    calls.push({ call: call.call, by: call.by, requestDigest: call.requestDigest, response });
  }
  const { model, scaffold } = begin;
  if (!model || !scaffold)
    return `${path}:1: it names no model and scaffold; only attempts of llm agents can be replayed`;
  return { model, scaffold, calls, reminders, tellsDeadline: begin.deadlineFile !== undefined };
}

function responseOf(event: ModelCallEvent, attachments: string): ModelResponse | string {
  let missing: string | undefined;
  const whole = (text: LongText): string => {
    const found = wholeText(text, attachments);
    if (!found.whole && typeof text !== "string") missing = text.digest;
    return found.text;
  };
  const toolCalls = event.toolCalls.map(({ id, name, input, malformed }): ToolCall => {
    const text = whole(input);
    return malformed ? { id, name, malformed: text } : { id, name, input: parsed(text) };
  });
  const response: ModelResponse = {
    text: whole(event.text),
    reasoning: event.reasoning === null ? null : whole(event.reasoning),
    toolCalls,
    finish: event.finish,
    usage: event.usage,
    answeredBy: event.answeredBy,
    ...(event.raw !== undefined && { raw: JSON.parse(whole(event.raw)) as Json }),
  };
  return missing === undefined ? response : `attachments/${missing} is missing or was changed; copy it too`;
}

function parsed(text: string): Record<string, Json> {
  return JSON.parse(text) as Record<string, Json>;
}
