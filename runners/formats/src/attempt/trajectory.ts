// The format of a line of a trajectory: the supervisor's log of an attempt, one event a line, in the order in
// which it saw them. Published as pipelines/trajectory.schema.json. Readers ignore fields that they do not know.

import { extendedFields } from "../declared/intervention.ts";
import * as t from "../schema.ts";
import { conversationEvents, type knownUsage, type longText } from "./conversation-events.ts";
import { downloadEvents } from "./download-events.ts";
import { replayFacts } from "./ledger.ts";
import { personEvents } from "./person.ts";
import { teamEvents, waitReason } from "./team-events.ts";
import { count, event, eventMember, ordinal, programEnding } from "./trajectory-event.ts";
import { usedPrice } from "./used-price.ts";

const stream = t.oneOf("stdout", "stderr");

export const trajectoryEvent = {
  type: "object",
  discriminator: { propertyName: "event" },
  required: ["event"],
  oneOf: [
    event(
      "start",
      {
        task: t.anyText,
        agent: t.anyText,
        seed: { type: ["string", "number"] },
        kind: t.anyText,
        sandbox: t.anyText,
        deadline: t.anyText,
      },
      {
        budget: t.openObject(
          {
            wallMs: t.number,
            tokens: t.number,
            dollars: t.number,
            machines: t.number,
            machineDollarsPerHour: t.number,
          },
          [],
        ),
        promptDigest: t.anyText,
        promptTemplateDigest: t.anyText,
        dataDigest: t.nullable(t.anyText),
        modelsDigest: t.nullable(t.anyText),
        programDigest: t.nullable(t.anyText),
        libraryDigest: t.nullable(t.anyText),
        limits: t.tableOf(t.number),
        network: t.about(
          t.oneOf("full", "hub"),
          "what its programs reach; hub: the download gateway; absent without a network",
        ),
        deadlineFile: t.about(t.anyText, "in the workspace; absent if the agent has none"),
        model: t.about({ type: "object" }, "from an llm agent's preset"),
        scaffold: t.about({ type: "object" }, "from an llm agent's preset"),
        gateway: t.about(t.listOf({ type: "object" }), "models that its program may call"),
        membersCall: t.about(t.flag, "of a team: whether a member calls models"),
        replay: replayFacts,
      },
    ),
    event("purse", {
      run: t.about(t.anyText, "the run that carries the attempt from here on"),
      maxDollars: t.about(t.nullable(t.amount), "the --max-cost in force; null: none"),
      prices: t.about(t.listOf(usedPrice), "of the models that it may call, if known"),
    }),
    event("exec", { argv: t.listOf(t.anyText) }),
    event("exec-end", { result: programEnding }, { where: t.tableOf(t.anyText) }),
    event("output", { stream, text: t.anyText }),
    event("output-clipped", { stream, bytes: count }),
    event("iteration", {
      line: t.about(t.anyText, "a claim, from iterations.jsonl or from the tool `iteration`"),
      wellFormed: t.flag,
    }),
    event(
      "snapshot",
      { name: t.anyText, digest: t.sha256, files: count, bytes: count },
      {
        changed: t.listOf(t.wholeObject({ path: t.anyText, digest: t.anyText })),
        changedMore: count,
        gone: t.listOf(t.anyText),
        goneMore: count,
        leftOut: t.listOf(t.wholeObject({ path: t.anyText, why: t.anyText })),
        leftOutMore: count,
        torn: t.about(t.listOf(t.anyText), "files that changed while they were copied"),
      },
    ),
    event("snapshot-skipped", { because: t.anyText }),
    event("snapshot-dropped", { name: t.anyText }),
    event("restore-point", {
      name: t.anyText,
      after: t.about(count, "lines of the trajectory when its copy began"),
      files: t.about(count, "files, folders and links of the sandbox"),
      copiedBytes: t.about(count, "of files that had changed since the restore point before"),
      torn: t.about(count, "files that changed while they were copied"),
      durationMs: count,
    }),
    event("restore-point-skipped", { because: t.anyText }),
    event("budget", {
      share: t.about({ type: "number", minimum: 0, maximum: 1 }, "share of the working time that is used up"),
    }),
    event(
      "reminder",
      {
        look: t.about(ordinal, "the number of the check that found it; replay uses it"),
        text: t.about(t.anyText, "the reminder that a model gets from now on"),
      },
      { intervention: t.about(ordinal, "the number of the intervention of which it says") },
    ),
    event("extended", extendedFields),
    event(
      "wait",
      {
        why: waitReason,
        durationMs: count,
        deadline: t.about(t.anyText, "after it"),
        frozenMs: t.about(count, "how far the deadline moved"),
      },
      {
        charged: t.about(t.oneOf("cannot-freeze", "reported-afterwards"), "why the deadline did not move"),
      },
    ),
    event(
      "resumed",
      {
        times: t.about(ordinal, "restarts so far, with this one"),
        after: t.about(
          count,
          "the number of lines up to which conversation and workspace continue; later lines were left behind",
        ),
        step: t.about(count, "answers of its models up to there"),
        workspace: t.about(
          t.oneOf("kept", "restore-point"),
          "kept: its files outlived the restart; restore point: they are as of `after`",
        ),
        workingMs: t.about(count, "the working time from which the clock continues"),
        creditedMs: t.about(count, "working time that was lost and does not count"),
      },
      { droppedBytes: t.about(count, "of a last line that was cut off") },
    ),
    ...downloadEvents,
    ...conversationEvents,
    ...teamEvents,
    ...personEvents,
    event(
      "end",
      {
        ended: t.anyText,
        iterations: t.openObject({ wellFormed: count, malformed: count, notKept: count }, []),
        submissionDigest: t.nullable(t.sha256),
      },
      {
        scaffold: t.about(t.openObject({ kind: t.anyText, detail: t.anyText }, []), "how the scaffold ended"),
        why: t.about(t.anyText, "what interrupted the attempt"),
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
    index: t.about(count, "from 0, without gaps"),
    previous: t.about(t.sha256, "sha256 of the line before without its line feed; zeros in the first"),
    time: t.about(t.anyText, "ISO 8601, UTC; the wall clock"),
    sinceStartMs: t.about({ type: "integer" }, "by a monotonic clock"),
    member: eventMember,
    event: { enum: trajectoryEvent.oneOf.map(({ properties }) => properties.event.const) },
  },
  required: ["formatVersion", "index", "previous", "time", "sinceStartMs", "event"],
  allOf: trajectoryEvent.oneOf.map(({ properties: { event, member, ...properties }, required }) => ({
    if: { properties: { event } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties, required: required.slice(1) },
  })),
} as const;

export type TrajectoryEvent = t.TypeOf<typeof trajectoryEvent>;
export type MessageEvent = Extract<TrajectoryEvent, { event: "message" }>;
export type ModelRequestEvent = Extract<TrajectoryEvent, { event: "model-request" }>;
export type RequestPartEvent = Extract<TrajectoryEvent, { event: "request-part" }>;
export type ModelCallEvent = Extract<TrajectoryEvent, { event: "model-call" }>;
export type ModelTryEvent = Extract<TrajectoryEvent, { event: "model-try" }>;
export type ToolResultEvent = Extract<TrajectoryEvent, { event: "tool-result" }>;

export type LongText = t.TypeOf<typeof longText>;
export type ModelUsage = t.TypeOf<typeof knownUsage>;
export type WaitReason = t.TypeOf<typeof waitReason>;
