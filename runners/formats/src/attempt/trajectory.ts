// The format of a line of a trajectory: the supervisor's log of an attempt, one event a line, in the order in which it
// saw them. Published as pipelines/trajectory.schema.json. Readers ignore fields that they do not know.

import { extendedFields } from "../declared/intervention.ts";
import {
  amount,
  flag,
  listOf,
  nullable,
  oneOf,
  openObject,
  sha256,
  type TypeOf,
  tableOf,
  anyText as text,
  wholeObject,
} from "../schema.ts";
import { conversationEvents, type knownUsage, type longText } from "./conversation-events.ts";
import { downloadEvents } from "./download-events.ts";
import { count, event, ordinal } from "./trajectory-event.ts";
import { usedPrice } from "./used-price.ts";

export const waitReason = {
  ...oneOf("gpu", "rate-limit", "provider", "operator", "suspended"),
  description: "operator: only a person can fix it, e.g. a key; suspended: a cluster had stopped the job",
} as const;

const stream = oneOf("stdout", "stderr");

/** How an agent's program ended: an `ExecResult`, or the reason for which the supervisor ended it. */
const ending = openObject(
  {
    kind: text,
    code: { type: "integer" },
    signal: text,
    detail: text,
    limit: text,
    over: openObject({ limit: text, detail: text }, []),
  },
  [],
);

export const trajectoryEvent = {
  type: "object",
  discriminator: { propertyName: "event" },
  required: ["event"],
  oneOf: [
    event(
      "start",
      {
        task: text,
        agent: text,
        seed: { type: ["string", "number"] },
        kind: text,
        sandbox: text,
        deadline: text,
      },
      {
        budget: openObject(
          { wallMs: { type: "number" }, tokens: { type: "number" }, dollars: { type: "number" } },
          [],
        ),
        promptDigest: text,
        promptTemplateDigest: text,
        dataDigest: nullable(text),
        modelsDigest: nullable(text),
        programDigest: nullable(text),
        libraryDigest: nullable(text),
        limits: tableOf({ type: "number" }),
        network: {
          ...oneOf("full", "hub"),
          description: "what its programs reach; hub: the download gateway; absent without a network",
        },
        deadlineFile: { ...text, description: "in the workspace; absent if the agent has none" },
        model: { type: "object", description: "from an llm agent's preset" },
        scaffold: { type: "object", description: "from an llm agent's preset" },
        gateway: { ...listOf({ type: "object" }), description: "models that its program may call" },
      },
    ),
    event("purse", {
      run: { ...text, description: "the run that carries the attempt from here on" },
      maxDollars: {
        ...nullable(amount),
        description: "the --max-cost in force; null: none",
      },
      prices: { ...listOf(usedPrice), description: "of the models that it may call, if known" },
    }),
    event("exec", { argv: listOf(text) }),
    event("exec-end", { result: ending }, { where: tableOf(text) }),
    event("output", { stream, text }),
    event("output-clipped", { stream, bytes: count }),
    event("iteration", {
      line: {
        ...text,
        description: "a claim, from iterations.jsonl or from the tool `iteration`",
      },
      wellFormed: flag,
    }),
    event(
      "snapshot",
      { name: text, digest: sha256, files: count, bytes: count },
      {
        changed: listOf(wholeObject({ path: text, digest: text })),
        changedMore: count,
        gone: listOf(text),
        goneMore: count,
        leftOut: listOf(wholeObject({ path: text, why: text })),
        leftOutMore: count,
        torn: { ...listOf(text), description: "files that changed while they were copied" },
      },
    ),
    event("snapshot-skipped", { because: text }),
    event("snapshot-dropped", { name: text }),
    event("checkpoint", {
      name: text,
      after: { ...count, description: "lines of the trajectory when its copy began" },
      files: { ...count, description: "files, folders and links of the sandbox" },
      copiedBytes: { ...count, description: "of files that had changed since the checkpoint before" },
      torn: { ...count, description: "files that changed while they were copied" },
      durationMs: count,
    }),
    event("checkpoint-skipped", { because: text }),
    event("budget", {
      share: {
        type: "number",
        minimum: 0,
        maximum: 1,
        description: "share of the working time that is used up",
      },
    }),
    event(
      "reminder",
      {
        look: {
          ...ordinal,
          description: "the number of the check that found it; replay uses it",
        },
        text: { ...text, description: "the reminder that a model gets from now on" },
      },
      { intervention: { ...ordinal, description: "the number of the intervention of which it says" } },
    ),
    event("extended", extendedFields),
    event(
      "wait",
      {
        why: waitReason,
        durationMs: count,
        deadline: { ...text, description: "after it" },
        frozenMs: { ...count, description: "how far the deadline moved" },
      },
      {
        charged: {
          ...oneOf("cannot-freeze", "reported-afterwards"),
          description: "why the deadline did not move",
        },
      },
    ),
    event(
      "resumed",
      {
        times: { ...ordinal, description: "restarts so far, with this one" },
        after: {
          ...count,
          description:
            "the number of lines up to which conversation and workspace continue; later lines were left behind",
        },
        step: { ...count, description: "answers of its models up to there" },
        workspace: {
          ...oneOf("kept", "checkpoint"),
          description: "kept: its files outlived the restart; checkpoint: they are as of `after`",
        },
        workingMs: { ...count, description: "the working time from which the clock continues" },
        creditedMs: { ...count, description: "working time that was lost and does not count" },
      },
      { droppedBytes: { ...count, description: "of a last line that was cut off" } },
    ),
    ...downloadEvents,
    ...conversationEvents,
    event(
      "end",
      {
        ended: text,
        iterations: openObject({ wellFormed: count, malformed: count, notKept: count }, []),
        submissionDigest: nullable(sha256),
      },
      {
        scaffold: { ...openObject({ kind: text, detail: text }, []), description: "how the scaffold ended" },
        why: { ...text, description: "what interrupted the attempt" },
      },
    ),
  ],
} as const;

/**
 * A whole line, as published. It has an `if` for each event, because validators without `discriminator` report a
 * failed `oneOf` only as "no variant fits".
 */
export const trajectoryLine = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "mlrb trajectory, one line",
  type: "object",
  properties: {
    formatVersion: { const: 1 },
    index: { ...count, description: "from 0, without gaps" },
    previous: {
      ...sha256,
      description: "sha256 of the line before without its line feed; zeros in the first",
    },
    time: { ...text, description: "ISO 8601, UTC; the wall clock" },
    sinceStartMs: { type: "integer", description: "by a monotonic clock" },
    event: { enum: trajectoryEvent.oneOf.map(({ properties }) => properties.event.const) },
  },
  required: ["formatVersion", "index", "previous", "time", "sinceStartMs", "event"],
  allOf: trajectoryEvent.oneOf.map(({ properties: { event, ...properties }, required }) => ({
    if: { properties: { event } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties, required: required.slice(1) },
  })),
} as const;

export type TrajectoryEvent = TypeOf<typeof trajectoryEvent>;
export type MessageEvent = Extract<TrajectoryEvent, { event: "message" }>;
export type ModelRequestEvent = Extract<TrajectoryEvent, { event: "model-request" }>;
export type RequestPartEvent = Extract<TrajectoryEvent, { event: "request-part" }>;
export type ModelCallEvent = Extract<TrajectoryEvent, { event: "model-call" }>;
export type ModelTryEvent = Extract<TrajectoryEvent, { event: "model-try" }>;
export type ToolResultEvent = Extract<TrajectoryEvent, { event: "tool-result" }>;

export type LongText = TypeOf<typeof longText>;
export type ModelUsage = TypeOf<typeof knownUsage>;
export type WaitReason = TypeOf<typeof waitReason>;
