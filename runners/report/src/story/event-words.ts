// One event of a trajectory in words, for the terminal and the page. Text of agents and models is included
// unchanged and may be long: the caller makes it harmless and clips it. Pure.

import { unreachable } from "@mlrb/core/ports/outcome";
import { counted } from "@mlrb/core/text/counted";
import { formatDuration } from "@mlrb/core/text/units";
import type {
  LongText,
  ModelCallEvent,
  ModelRequestEvent,
  ToolResultEvent,
  TrajectoryEvent,
} from "@mlrb/formats/attempt/trajectory";
import { objectIn, valueText } from "../exports/json-pieces.ts";
import { bytesText } from "./bytes-text.ts";

/** Longest part of a line, in characters. */
const partMax = 400;

export function eventWords(event: TrajectoryEvent): string {
  switch (event.event) {
    case "output":
      return event.text.trimEnd();
    case "output-clipped":
      return `${bytesText(event.bytes)} more of ${event.stream} were not kept`;
    case "exec":
      return event.argv.join(" ");
    case "exec-end":
    case "member-end":
      return endWords(event.result);
    case "member-start":
      return `${event.agent}, of kind ${event.kind}${event.role === undefined ? "" : `, with the role: ${shown(event.role)}`}`;
    case "person":
      return `${event.person} agreed at ${event.agreedAt}; knew before: ${shown(event.knowledge)}`;
    case "person-end":
      return event.declared
        ? `${event.person} declares ${event.declared.hours} hours; models used: ${shown(event.declared.models)}`
        : `${event.person} declared nothing`;
    case "board":
      return `to ${event.to}${event.purpose === "message" ? "" : ` (${event.purpose})`}: ${shown(event.text)}`;
    case "board-refused":
      return event.because;
    case "member-wait":
      return `${formatDuration(event.durationMs)} for ${waitWords(event.why)}; its processes ${event.frozen ? "were frozen" : "kept running"}, and the deadline did not move`;
    case "iteration":
      return iterationWords(event.line, event.wellFormed);
    case "snapshot":
      return snapshotWords(event);
    case "snapshot-skipped":
      return event.because;
    case "snapshot-dropped":
      return event.name;
    case "budget":
      return `${Math.round(100 * event.share)} % of the time is used`;
    case "wait":
      return `${formatDuration(event.durationMs)} for ${waitWords(event.why)}${movedWords(event)}`;
    case "resumed": {
      const { times, step, workspace, creditedMs } = event;
      const files = workspace === "kept" ? "with its files" : "with the files of a restore point";
      return `restart ${times}: its supervisor or host had died; it continues after answer ${step} ${files}; ${formatDuration(creditedMs)} of work do not count`;
    }
    case "purse": {
      const { run, maxDollars, prices } = event;
      const limit = maxDollars === null ? "no spending limit" : `at most ${maxDollars} dollars`;
      const priced = prices.length === 0 ? "no known prices" : `prices of ${counted(prices.length, "model")}`;
      return `${limit} (--max-cost) and ${priced}, of run ${run}`;
    }
    case "restore-point": {
      const { name, files, copiedBytes, torn } = event;
      const changed = torn === 0 ? "" : `; ${counted(torn, "file")} changed during the copy`;
      return `${name}: ${counted(files, "file")}, ${bytesText(copiedBytes)} copied${changed}`;
    }
    case "extended": {
      const { by, addedMs, addedDollars } = event;
      const dollars = addedDollars > 0 ? ` and ${addedDollars} dollars` : "";
      return `${by} added ${formatDuration(addedMs)}${dollars}`;
    }
    case "message":
      return `to ${event.by} (${event.why === "prompt" ? event.role : event.why}): ${shown(event.text)}`;
    case "model-request":
      return requestWords(event);
    case "request-part":
      return `${event.by} to its model, ${event.role ?? event.part}: ${event.again ? `as in an earlier part, ${event.digest.slice(0, 12)}` : shown(event.text)}`;
    case "model-call":
      return callWords(event);
    case "model-try": {
      const { by, call, cause, whose, detail, waitMs } = event;
      const then = waitMs === null ? "; not retried" : `; retried after ${formatDuration(waitMs)}`;
      return `call ${call} of ${by}, try ${event.try} failed, ${whose}: ${cause}: ${detail.slice(0, partMax)}${then}`;
    }
    case "tool-call":
      return `${event.by}: ${toolWords(event.name, event.input)}`;
    case "tool-result":
      return `${event.by}: ${event.name} ${resultWords(event)}: ${shown(event.text)}${event.rest === null ? "" : ` (full text in ${event.rest})`}`;
    case "context-cut": {
      const { by, messagesCut, charactersCut, messagesKept } = event;
      return `${messagesCut} messages of ${charactersCut} characters were cut from the context of ${by}; ${messagesKept} remain`;
    }
    case "file-change":
      return `${event.by}: ${event.path} is now ${event.digest.slice(0, 12)}, ${bytesText(event.bytes)}`;
    case "note":
      return `${event.by}: ${shown(event.text)}`;
    default: {
      const { event: _, member, ...facts } = event;
      return factsWords(facts);
    }
  }
}

/** `name value, …` for events without words of their own; digests in short. */
export function factsWords(facts: Record<string, unknown>): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name} ${valueText(value).replace(/^([0-9a-f]{12})[0-9a-f]{52}$/, "$1")}`)
    .join(", ");
}

/** A tool with its input: the text that is its only field, else the whole input, so that no field is hidden. */
export function toolWords(name: string, input: LongText): string {
  const fields = typeof input === "string" ? objectIn(input) : undefined;
  const [only, ...others] = Object.values(fields ?? {});
  if (fields && only === undefined) return name;
  return `${name} ${typeof only === "string" && others.length === 0 ? only : shown(input)}`;
}

export function resultWords({ outcome, exit, durationMs }: ToolResultEvent): string {
  const ended = exit === null ? "" : "code" in exit ? `, exit ${exit.code}` : `, ended by ${exit.signal}`;
  return `${outcome}${ended}, ${formatDuration(durationMs)}`;
}

function requestWords({ by, call, model, messages, sameAs }: ModelRequestEvent): string {
  const before = sameAs === null ? "" : `, the first ${sameAs.messages} as in call ${sameAs.call}`;
  return `call ${call} of ${by} asks ${model} with ${messages} messages${before}`;
}

function callWords(event: ModelCallEvent): string {
  const { text, reasoning, finish, usage, dollars, tries, reach } = event;
  const tokens = usage === null ? "tokens unknown" : `${usage.inputTokens} + ${usage.outputTokens} tokens`;
  const price = dollars === null ? "price unknown" : `${dollars.toFixed(4)} dollars`;
  const tools = event.toolCalls.map(({ name, input, malformed }) =>
    malformed ? `${name} (malformed)` : toolWords(name, input),
  );
  const ended = finish === "stop" || finish === "tool-calls" ? "" : `, ended by ${finish}`;
  const again = tries > 1 ? `, ${tries} tries` : "";
  return [
    `call ${event.call} of ${event.by}, ${event.answeredBy ?? event.model}: ${tokens}, ${price}, ${formatDuration(event.durationMs)}${again}${ended}`,
    ...(reasoning === null ? [] : [`reasoning: ${shown(reasoning)}`]),
    ...(reach === undefined ? [] : [`the provider searched or ran a tool: ${reach}`]),
    ...(text === "" ? [] : [`answer: ${shown(text)}`]),
    ...tools.map((tool) => `tool call: ${tool.slice(0, partMax)}`),
  ].join("\n");
}

function iterationWords(line: string, wellFormed: boolean): string {
  if (!wellFormed) return `malformed: ${line}`;
  const { id, hypothesis, change, metric, decision } = objectIn(line) ?? {};
  if (id === undefined || (hypothesis ?? change) === undefined) return line;
  const { name, split, value } = Object(metric) as Record<string, unknown>;
  const seen =
    name === undefined ? undefined : `${name}${split === undefined ? "" : ` on ${split}`} ${value}`;
  return [`${id}: ${hypothesis ?? change}`, ...[hypothesis && change, seen, decision].filter(Boolean)].join(
    "; ",
  );
}

function snapshotWords(event: Extract<TrajectoryEvent, { event: "snapshot" }>): string {
  const { name, files, bytes, changed = [], gone = [] } = event; // its digest is of another form than the submission's
  const listed = (word: string, paths: string[]) => {
    const more = paths.length > 3 ? ` and ${paths.length - 3} more` : "";
    return paths.length === 0 ? "" : `; ${word} ${paths.slice(0, 3).join(", ")}${more}`;
  };
  const size = `${counted(files, "file")}, ${bytesText(bytes)}`;
  const changes = changed.map(({ path }) => path);
  return `${name}: ${size}${listed("new or changed", changes)}${listed("deleted", gone)}`;
}

function endWords(result: unknown): string {
  const { kind, code, signal, detail, over } = Object(result) as Record<string, unknown>;
  const how =
    kind === "exited"
      ? `exit ${valueText(code)}`
      : kind === "signalled"
        ? `ended by ${valueText(signal)}`
        : [kind, detail].filter(Boolean).map(valueText).join(": ");
  return over === undefined
    ? how
    : `${how}; over its limit of ${valueText((Object(over) as { limit?: unknown }).limit)}`;
}

function movedWords(event: Extract<TrajectoryEvent, { event: "wait" }>): string {
  const { frozenMs, charged, deadline, durationMs } = event;
  switch (charged) {
    case "cannot-freeze":
      return ", counted as working time: its programs could not be frozen";
    case "reported-afterwards":
      return ", counted as working time: its programs kept running";
    case undefined: {
      const part =
        frozenMs !== undefined && durationMs - frozenMs >= 1000
          ? ` for ${formatDuration(frozenMs)} of it`
          : "";
      return `, not counted as working time${part}; the deadline moved to ${deadline}`;
    }
    default:
      return unreachable(charged);
  }
}

export function waitWords(why: string): string {
  const words: Record<string, string> = {
    gpu: "a GPU",
    "rate-limit": "a rate limit",
    provider: "a provider",
    operator: "the operator (a key, a quota, a model's name)",
    suspended: "the cluster, which had suspended its job",
  };
  return words[why] ?? why;
}

export function shown(text: LongText): string {
  if (typeof text === "string") return text.length > partMax ? `${text.slice(0, partMax)}…` : text;
  return `${text.head.slice(0, partMax)}… (${bytesText(text.bytes)})`;
}
