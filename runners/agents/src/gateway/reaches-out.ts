// Finds what a request asks its provider to fetch or run: searches, pages, pictures by address, remote tools. They would
// give a network to an agent without one. Anything not known to stay with the program is refused. Pure.
import { isTable } from "@mlrb/formats/is-table";
import type { Json } from "@mlrb/kit/stage";
import type { CallFormat } from "./route-request.ts";

/** Tools that the program itself runs, by their names in the providers' documentation. */
const own =
  /^(function|custom|local_shell|apply_patch|namespace|bash_\d+|text_editor_\d+|computer_\d+|memory_\d+)$/;

/** The part of the request that reaches out; undefined if none does. */
export function reachesOut(format: CallFormat, body: Record<string, Json>): string | undefined {
  for (const name of ["mcp_servers", "web_search_options", "background", "container", "prompt"]) {
    const value = body[name];
    if (value !== undefined && value !== null && value !== false) return `\`${name}\``;
  }
  for (const tool of list(body.tools)) {
    const found = reachingTool(format, tool);
    if (found) return found;
  }
  const said = { "openai-chat": body.messages, "openai-responses": body.input, anthropic: body.messages }[
    format as string
  ];
  for (const message of format === "google" ? list(body.contents) : list(said)) {
    const found = reachingPart(message);
    if (found) return found;
  }
  return undefined;
}

function reachingTool(format: CallFormat, tool: Json): string | undefined {
  if (!isTable(tool)) return "a tool that is no object";
  if (format === "google") {
    const other = Object.keys(tool).find((name) => !/^function_?declarations$/i.test(name));
    return other && `the tool ${other}`;
  }
  const type = tool.type ?? (format === "anthropic" ? "custom" : undefined);
  if (typeof type !== "string" || !own.test(type)) return `a tool of type ${JSON.stringify(type ?? null)}`;
  for (const inner of list(tool.tools)) {
    const found = reachingTool(format, inner);
    if (found) return found;
  }
  return undefined;
}

/** Searches parts of messages and of tools' results, not the text that a model or a tool wrote. */
function reachingPart(part: Json, depth = 0): string | undefined {
  if (!isTable(part) || depth > 4) return undefined;
  const source = part.source;
  if (isTable(source) && (source.type === "url" || source.type === "file")) return "content by its address";
  for (const name of ["image_url", "file_url", "file_id"]) {
    const value = part[name];
    const address = isTable(value) ? value.url : value;
    if (typeof address === "string" && !address.startsWith("data:")) return `\`${name}\``;
  }
  for (const name of ["fileData", "file_data"]) if (isTable(part[name])) return `\`${name}\``;
  for (const inner of [...list(part.content), ...list(part.parts), ...list(part.output)]) {
    const found = reachingPart(inner, depth + 1);
    if (found) return found;
  }
  return undefined;
}

function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}
