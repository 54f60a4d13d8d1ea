// Finds in a provider's answer what shows that the provider searched, fetched a page or ran a tool. The names are
// those of all protocols and of servers that speak them: an answer of any of them is searched for all. Pure.
import type { Json } from "@mlrb/kit/stage";
import { at, within } from "../../model/json-text.ts";

/** Types of items, blocks, citations and events of a stream. Tools that a program runs itself have other types. */
const types =
  /(^|[._])(url_citation|web_search_result_location|server_tool_use|mcp_\w+|(web|x|file)_(search|fetch)\w*|code_(interpreter|execution)\w*|image_generation_call|container_upload)($|\.)/u;

/** Fields, in snake case. */
const fields =
  /(?<!re)search|fetch|browser|grounding|url_context|executed_tools|executable_code|code_execution|server_(side_)?tool|sources_used|citation_tokens|^citations$|^tool_(call|response)$/u;

/** Fields that hold what a program or a model wrote, or repeat the request. */
const skipped = new Set([
  ...["arguments", "input", "args", "action", "operation", "parameters", "metadata", "instructions"],
  ...["tools", "toolChoice", "tool_choice", "format", "schema", "response_format", "logprobs"],
]);

/** The name of the first such field or type, 100 characters at most. Undefined if nothing shows it. */
export function reachIn(answer: Json): string | undefined {
  for (const [key, one] of within(answer, (name) => skipped.has(name))) {
    if (key === "type" && typeof one === "string" && types.test(one)) return one.slice(0, 100);
    const name = key.replace(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
    if (fields.test(name) && (name === "citations" ? namesAddress(one) : holdsAny(one)))
      return key.slice(0, 100);
  }
  return undefined;
}

/** Citations of the request's own documents name no address. */
function namesAddress(citations: Json): boolean {
  if (!Array.isArray(citations)) return false;
  return citations.some((one) => typeof one === "string" || Boolean(at(one, "url") ?? at(one, "uri")));
}

/** Whether a list has elements, or an object a positive number or a text at any depth. A setting's word is neither. */
function holdsAny(field: Json): boolean {
  if (typeof field === "string") return false;
  return within(field).some(([, value]) => {
    if (typeof value === "number") return value > 0;
    return Array.isArray(value) ? value.length > 0 : typeof value === "string" && value !== "";
  });
}
