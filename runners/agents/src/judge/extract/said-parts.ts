// The parts of a message in any form in which programs send it to a provider, and of a step or message in another
// tool's trajectory. Formats are told apart by their fields, which differ. What has an unknown form is shown as JSON.
import { isTable } from "@mlrb/formats/is-table";
import type { ExtractEvent } from "@mlrb/formats/judged/extract";
import type { Json } from "@mlrb/formats/schema";
import { quiet } from "@mlrb/kit/processes/process-table";
import { parsedJson, textAt } from "../../model/json-text.ts";

type Kind = ExtractEvent["kind"];

const depthMax = 64;
/** Of messages, in the order in which their texts are shown. */
const fields =
  "reasoning_content thinking reasoning summary text content parts output functionCall tool_calls functionResponse response results".split(
    " ",
  );

/** Texts with the kind of event that they are; `kind` is that of texts of which nothing says it. */
export function saidParts(value: Json | undefined, kind: Kind = "message", depth = 0): [Kind, string][] {
  if (value === undefined || value === null || value === "") return [];
  if (typeof value !== "object" || depth > depthMax) return [[kind, jsonOf(value)]];
  if (Array.isArray(value)) return value.flatMap((one) => saidParts(one, kind, depth + 1));
  const own = kindBy(textAt(value, "type") || textAt(value, "role")) ?? kind;
  if (own === "call") return [[own, callOf(value)]];
  const found = fields.flatMap((field) => saidParts(value[field], kindBy(field) ?? own, depth + 1));
  // of encrypted reasoning only a signature is left
  return found.length > 0 || own === "reasoning" ? found : [[own, jsonOf(value)]];
}

/** By the name of a field, a type or a role. */
export function kindBy(name: string): Kind | undefined {
  if (/^(tool_use|functionCall|tool_calls|[a-z_]+_call)$/.test(name)) return "call";
  if (/^(tool|tool_result|functionResponse|observation|[a-z_]+_call_output)$/.test(name)) return "result";
  return /thinking|reasoning/.test(name) ? "reasoning" : undefined;
}

/** A name and the fields of its input as lines, with their texts as they are: a quote of them is literal. */
function callOf(call: Record<string, Json>): string {
  const inner = isTable(call.function) ? call.function : call;
  const name = ["name", "function_name", "function"].map((field) => textAt(inner, field)).find(Boolean);
  const input = inner.arguments ?? inner.input ?? inner.args ?? inner.action ?? call;
  const value = typeof input === "string" ? parsedJson(input) : input;
  const fields = Object.entries(isTable(value) ? value : { input });
  return [name ?? "a tool", ...fields.map(([field, one]) => `${field}: ${jsonOf(one)}`)].join("\n");
}

function jsonOf(value: Json): string {
  if (typeof value === "string") return value;
  return quiet(() => JSON.stringify(value)) ?? "JSON that nests too deep to be shown";
}
