// Adds the events of a trajectory to an extract. Conversations have numbers, since the harness names them after parts
// of a scaffold, and members of a team have letters. Left out: clocks, costs, names of models, settings of requests,
// and what only the harness did.
import { hash } from "node:crypto";
import { BenchmarkCallCounter } from "@mlrb/core/iterations/benchmark-calls";
import { type LongText, type TrajectoryEvent, trajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { readFormat } from "@mlrb/formats/read-format";
import type { Json } from "@mlrb/formats/schema";
import { splitLines } from "@mlrb/kit/attempts/split-lines";
import { parsedJson } from "../../model/json-text.ts";
import { wholeText } from "../../record/attachments.ts";
import type { ExtractDraft } from "./extract-draft.ts";
import { saidParts } from "./said-parts.ts";

type EventName = TrajectoryEvent["event"];
type Whole = (long: LongText) => string;
/** `member B` by its name. */
type Naming = (member: string) => string;
type Telling<Event> = (event: Event, whole: Whole, naming: Naming) => [how: string, message: Json];
type Files = { trajectory: string; attachments?: string | undefined };

/** What an event says, in the form of a message. All others are no part of what the attempt did. */
const tellings: { [Name in EventName]?: Telling<Extract<TrajectoryEvent, { event: Name }>> } = {
  message: ({ role, text }, whole) => [`is told as ${role}`, whole(text)],
  "model-call": ({ reasoning, text, toolCalls }, whole) => {
    const calls = toolCalls.map((one) => ({ ...one, type: "tool_use", input: whole(one.input) }));
    return ["answers", [{ type: "reasoning", text: whole(reasoning ?? "") }, whole(text), ...calls]];
  },
  "tool-call": ({ name, input }, whole) => ["runs", { type: "tool_use", name, input: whole(input) }],
  "tool-result": ({ name, outcome, exit, text }, whole) => {
    const how = ["gets from", name, outcome, ...Object.entries(exit ?? {}).flat()].join(" ");
    return [how, { type: "tool", text: whole(text) || "(no text)" }];
  },
  "request-part": ({ part, role, text, again }, whole) => {
    const json = again || part === "settings" ? "" : whole(text);
    return [`is sent by a program, as ${role ?? part}`, parsedJson(json) ?? json];
  },
  output: ({ stream, text }) => [`writes to ${stream}`, { type: "tool", text }],
  iteration: ({ line }) => ["reports an experiment", line],
  note: ({ text }, whole) => ["notes", whole(text)],
  resumed: () => ["went back", "to an earlier state after a restart: what came last may come again"],
  "member-start": ({ role }, whole) => ["is told its role", whole(role ?? "")],
  board: ({ to, purpose, text }, _, naming) => {
    const how = purpose === "message" ? "writes to" : "hands over to";
    return [`${how} ${to === "all" ? "all members" : naming(to)}`, text];
  },
  "member-end": ({ result: { kind = "ended", code = "", signal = "" } }) => [
    "ends",
    `${kind} ${code}${signal}`.trim(),
  ],
  end: ({ ended }) => ["ends", ended],
};

/**
 * The lines of calls that name the benchmark by one of `publicNames`, what was downloaded, in words, and how members
 * are called.
 */
export async function addTrajectory(draft: ExtractDraft, files: Files, publicNames: readonly string[]) {
  const [naming, downloads] = [[] as number[], new Set<string>()];
  const conversations = new Map<string, string>();
  /** A preset has at most 8 members. */
  const letters = new Map<string, string>();
  const letter = () => String.fromCharCode("A".charCodeAt(0) + Math.min(letters.size, 25));
  const nameOf: Naming = (member) => `member ${letters.getOrInsertComputed(member, letter)}`;
  /** Digests of what models said and called, by member: programs send it back, and supervisors carry it out. */
  const known = new Set<string>();
  let number = -1;
  const whole = (long: LongText): string => {
    const { text, whole } = wholeText(long, files.attachments);
    if (!whole) draft.leaveOut("the rest of a long text, which is not on record");
    return text;
  };
  for await (const line of splitLines(files.trajectory)) {
    number++;
    const reading = typeof line === "string" ? undefined : readFormat(trajectoryEvent, line.toString());
    if (reading?.kind !== "ok") {
      draft.leaveOut(reading ? "an event of an unknown form" : `the rest of the trajectory, ${line}`);
      continue;
    }
    const event = reading.value;
    const telling = tellings[event.event] as Telling<TrajectoryEvent> | undefined;
    const [how, message] = telling?.(event, whole, nameOf) ?? ["", []];
    const of = event.member === undefined ? "" : nameOf(event.member);
    const next = () => `Conversation ${conversations.size + 1}${of && ` of ${of}`}`;
    const isSaid = "by" in event && event.event !== "note";
    const isOfAgent = isSaid || event.event === "board" || event.event === "member-start";
    for (const [kind, text] of saidParts(message, isOfAgent ? "message" : "note")) {
      const digest = hash("sha256", `${of} ${kind} ${text}`);
      const who = isSaid
        ? conversations.getOrInsertComputed(`${of} ${event.by}`, next)
        : of.replace("m", "M") || "The attempt";
      const mayRepeat = kind !== "result" && ["tool-call", "request-part"].includes(event.event);
      if (!mayRepeat || !known.has(digest)) draft.add(kind, `${who} ${how}:\n${text}`, number);
      known.add(digest);
    }
    const counter = new BenchmarkCallCounter(publicNames);
    counter.take(event);
    const counted = counter.end();
    if (counted.kind === "counted" && counted.calls > 0) naming.push(number);
    if (event.event === "output-clipped") draft.leaveOut("output of a program, which is not on record");
    if (event.event === "download")
      downloads.add(JSON.stringify({ kind: event.from, id: event.id, path: event.path, bytes: event.bytes }));
    if (event.event === "download-refused")
      downloads.add(JSON.stringify({ refused: event.asked, cause: event.cause }));
  }
  return { naming, downloads, nameOf };
}
