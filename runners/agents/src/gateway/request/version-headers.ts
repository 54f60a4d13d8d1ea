// The headers of a program's request that leave the gateway: versions of the protocol, and betas whose fields do.
// A beta that is not listed is left out: its fields are, so it would change nothing that the gateway lets through.
// Pure.
import type { IncomingHttpHeaders } from "node:http";
import type { CallFormat } from "../route-request.ts";

export type VersionHeaders = { headers: Record<string, string>; dropped: string[] };

const anthropicBetas = new Set([
  ...["interleaved-thinking", "dev-full-thinking", "thinking-token-count", "redact-thinking"],
  ...["adaptive-thinking", "effort", "context-management", "context-hint", "task-budgets"],
  ...["prompt-caching", "prompt-caching-scope", "cache-diagnosis", "token-counting", "token-efficient-tools"],
  ...["fine-grained-tool-streaming", "structured-outputs", "output-128k", "max-tokens-3-5-sonnet", "pdfs"],
  ...["advanced-tool-use", "tool-examples", "tool-search-tool", "computer-use"],
  ...["mid-conversation-system", "summarize-connector-text"],
]);
const networkBetas = new Set(["web-search", "web-fetch", "mcp-client"]);

export function versionHeaders(
  format: CallFormat,
  headers: IncomingHttpHeaders,
  { network }: { network: boolean },
): VersionHeaders {
  if (format === "google") return { headers: {}, dropped: [] };
  if (format !== "anthropic")
    return chosen("openai-beta", headers, (beta) => beta === "responses=experimental");
  const version = headers["anthropic-version"];
  const dated = typeof version === "string" && /^\d{4}-\d{2}-\d{2}$/u.test(version);
  const betas = chosen("anthropic-beta", headers, (beta) => {
    const [, name = ""] = /^([a-z0-9-]+?)-\d{4}-?\d{2}-?\d{2}$/u.exec(beta) ?? [];
    // `claude-…` names a client of Anthropic's own
    return name.startsWith("claude-") || anthropicBetas.has(name) || (network && networkBetas.has(name));
  });
  return { ...betas, headers: { ...(dated && { "anthropic-version": version }), ...betas.headers } };
}

function chosen(
  name: string,
  headers: IncomingHttpHeaders,
  isKept: (beta: string) => boolean,
): VersionHeaders {
  const given = String(headers[name] ?? "").split(",");
  const betas = given.map((beta) => beta.trim()).filter((beta) => beta !== "");
  const kept = betas.filter(isKept);
  const dropped = betas.filter((beta) => !isKept(beta)).map((beta) => `${name}: ${beta.slice(0, 100)}`);
  return { headers: kept.length > 0 ? { [name]: kept.join(",") } : {}, dropped: dropped.slice(0, 20) };
}
