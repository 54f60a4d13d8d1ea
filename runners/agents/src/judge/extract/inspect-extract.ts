// A log of Inspect AI, read as a trajectory of ATIF: JSON of version 2, as `inspect log dump` prints it
// (https://inspect.aisi.org.uk/eval-logs.html). Read are all messages to models and from them: the last conversation
// of a sample holds neither its subagents nor what was compacted.
import { isTable } from "@mlrb/formats/is-table";
import type { Extract } from "@mlrb/formats/judged/extract";
import type { Json } from "@mlrb/formats/schema";
import { quiet } from "@mlrb/kit/processes/process-table";
import { at, listAt, textAt } from "../../model/json-text.ts";
import { atifExtract } from "./atif-extract.ts";
import type { ExtractLimits } from "./extract-draft.ts";

/** A text says why the log cannot be read. */
export function inspectExtract(log: Json | undefined, limits: ExtractLimits): Extract | string {
  if (at(log, "version") !== 2) return "it is no log of Inspect of version 2";
  const [sample = null, ...others] = listAt(log, "samples");
  if (others.length > 0) return "it has several samples; jq '.samples |= .[:1]' keeps the first of them";
  let lost = listAt(sample, "events").filter((one) => listAt(one, "events").length > 0).length;
  const whole = (_: string, value: Json) => {
    const digest = typeof value === "string" && /^(?:attachment|tc):\/\/(.*)$/s.exec(value)?.[1];
    const found = digest ? at(sample, "attachments", digest) : value;
    if (found === undefined) lost++;
    return found ?? value;
  };
  const steps = quiet(() => JSON.parse(JSON.stringify(stepsOf(sample)), whole) as Json) ?? null;
  const agent = { name: textAt(log, "eval", "solver"), model_name: textAt(log, "eval", "model") };
  const read = atifExtract({ schema_version: "ATIF-v1.0", agent, steps }, limits);
  if (typeof read === "string") return read;
  return { ...read, leftOut: { ...read.leftOut, events: read.leftOut.events + lost } };
}

/** A message keeps its id in later requests, which may hold less of it. */
function stepsOf(sample: Json): object[] {
  const messages = new Map<string, Json>();
  for (const one of messagesOf(sample)) messages.getOrInsert(textAt(one, "id") || JSON.stringify(one), one);
  return [...messages.values()].map((one) => {
    if (!isTable(one)) return { message: one };
    const {
      role: source = null,
      model = null,
      content = null,
      tool_calls = null,
      error = null,
      ...others
    } = one;
    const told = source === "tool" ? { observation: [content, error] } : { message: content, error };
    return { ...others, ...told, source, model_name: model, tool_calls };
  });
}

function* messagesOf(sample: Json): Generator<Json> {
  const pool = listAt(sample, "events_data", "messages");
  for (const event of listAt(sample, "events")) {
    for (const refs of listAt(event, "input_refs"))
      yield* pool.slice(Number(at(refs, 0)), Number(at(refs, 1)));
    yield* listAt(event, "input");
    for (const choice of listAt(event, "output", "choices")) yield at(choice, "message") ?? null;
    const id = textAt(event, "message_id"); // only of a tool's result
    if (id)
      yield { id, role: "tool", content: at(event, "result") ?? null, error: at(event, "error") ?? null };
  }
  yield* listAt(sample, "messages");
}
