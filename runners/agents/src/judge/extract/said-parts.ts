// The parts of a message in any form in which programs send it to a provider, and of a step or message in another
// tool's trajectory. Formats are told apart by their fields, which differ. What has an unknown form is shown as JSON.
import { isTable } from "@mlrb/formats/is-table";
import type { ExtractEvent } from "@mlrb/formats/judged/extract";
import type { Json } from "@mlrb/formats/schema";
import { quiet } from "@mlrb/kit/processes/process-table";
import { parsedJson, textAt, within } from "../../model/json-text.ts";

type Kind = ExtractEvent["kind"];

const depthMax = 64;
/** Of messages, in the order in which their texts are shown. */
const fields =
  "reasoning_content thinking reasoning reasoning_details summary text content parts output functionCall function_call tool_calls functionResponse response results result outputs".split(
    " ",
  );

/**
 * Fields that say nothing of what was done. A sentence in one of them is shown all the same: whoever writes a request
 * chooses what is in its ids.
 */
const formal =
  /^(?:.*_?id|.*Id|index|type|role|name|function|source|status|phase|thought|redacted|.*_?signature|.*Signature|encrypted_content|cache_control|.*metrics|.*usage|timestamp|created(?:_at)?|reasoning_effort|is_copied_context|llm_call_count)$/;
const naming = /^(?:model|provider|agent|author|solver)(?:_?(?:name|id|version))?$/i;

/** Texts with the kind of event that they are; `kind` is that of texts of which nothing says it. */
export function saidParts(value: Json | undefined, kind: Kind = "message", depth = 0): [Kind, string][] {
  if (value === undefined || value === null || value === "") return [];
  if (typeof value !== "object" || depth > depthMax) return [[kind, jsonOf(value, kind)]];
  if (Array.isArray(value)) return value.flatMap((one) => saidParts(one, kind, depth + 1));
  const own = kindBy(textAt(value, "type") || textAt(value, "role")) ?? kind;
  const call = own === "call" ? readCall(value) : undefined;
  const known = fields.filter((field) => !call?.read.includes(field));
  const found = known.flatMap((field) =>
    saidParts(value[field], kindBy(field) ?? (call ? "result" : own), depth + 1),
  );
  // of encrypted reasoning only a signature is left
  if (found.length === 0 && !call && own !== "reasoning") return [[own, jsonOf(value, own)]];
  const others = otherFields(value, [...known, ...(call?.read ?? [])], own);
  return [...(call?.parts ?? []), ...found, ...others];
}

/** The fields that are not in `shown`, as lines; none if they say nothing. */
export function otherFields(value: Json, shown: string[], kind: Kind): [Kind, string][] {
  const others = Object.entries(isTable(value) ? value : { value }).filter(
    ([name, one]) => !shown.includes(name) && !saysNothing(name, one, kind),
  );
  return others.length > 0 ? [[kind, linesOf(others, kind)]] : [];
}

function saysNothing(name: string, value: Json, kind: Kind): boolean {
  if (isName(name, value, kind)) return true;
  const isFormal = formal.test(name) || (kind === "reasoning" && name === "data"); // sealed
  return ![...within(value)].some(
    ([field, one]) =>
      one && typeof one !== "object" && (/\s/u.test(`${one}`) || !(isFormal || formal.test(field))),
  );
}

/** Calls and results name what the attempt works with, and a long text is no name. */
function isName(field: string, value: unknown, kind: Kind): boolean {
  const isOfMessage = kind !== "call" && kind !== "result";
  return isOfMessage && naming.test(field) && typeof value === "string" && value.length <= 100;
}

/** By the name of a field, a type or a role. */
export function kindBy(name: string): Kind | undefined {
  if (/^(tool_use|functionCall|tool_calls|[a-z_]+_call)$/.test(name)) return "call";
  if (/^(tool|tool_result|functionResponse|observation|[a-z_]+_call_output)$/.test(name)) return "result";
  return /thinking|reasoning/.test(name) ? "reasoning" : undefined;
}

/** A name and the fields of its input. `read`: the fields of `call` that `parts` show. */
function readCall(call: Record<string, Json>): { parts: [Kind, string][]; read: string[] } {
  const inner = isTable(call.function) ? call.function : call;
  const named = ["name", "function_name", "function"].find((field) => textAt(inner, field));
  const given = ["arguments", "input", "args", "action"].find((field) => (inner[field] ?? null) !== null);
  const input = given === undefined ? call : inner[given]!;
  const value = typeof input === "string" ? parsedJson(input) : input;
  const name = named === undefined ? "a tool" : textAt(inner, named);
  const text = [name, linesOf(Object.entries(isTable(value) ? value : { input }), "call")]
    .filter(Boolean)
    .join("\n");
  if (given === undefined) return { parts: [["call", text]], read: Object.keys(call) };
  const read = [given, named ?? ""];
  if (inner === call) return { parts: [["call", text]], read };
  return { parts: [["call", text], ...otherFields(inner, read, "call")], read: ["function"] };
}

/** With their texts as they are: a quote of them is literal. */
function linesOf(fields: [name: string, value: Json][], kind: Kind): string {
  return fields.map(([name, one]) => `${name}: ${jsonOf(one, kind)}`).join("\n");
}

function jsonOf(value: Json, kind: Kind): string {
  if (typeof value === "string") return value;
  const plain = (field: string, one: Json) => (isName(field, one, kind) ? undefined : one);
  const json = quiet(() => JSON.stringify(value, plain));
  if (json !== undefined) return json;
  // it nests too deep
  return [...within(value)].flatMap(([, one]) => (typeof one === "object" ? [] : `${one}`)).join("\n");
}
