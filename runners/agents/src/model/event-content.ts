// Whether an event of a stream carries a part of an answer, in any provider's protocol. Pings, empty pieces and
// news of the status keep a connection open and say nothing about the model. Unknown fields count as content.
import type { Json } from "@mlrb/kit/stage";
import { textAt, within } from "./json-text.ts";

const status = /^(ping|keep_?-?alive|heartbeat|response\.(created|queued|in_progress))$/u;
/** Fields that name, count or rate a piece. */
const labels =
  /^(p|id|type|object|created|role|model|index|provider|obfuscation|status|service_?[tT]ier|system_fingerprint)$|_id$|[a-z]Id$|[uU]sage|Version$|[rR]atings$|filter_results$/u;

export function carriesContent(event: Json): boolean {
  if (status.test(textAt(event, "type"))) return false;
  const values = within(event, (name) => labels.test(name));
  return values.some(([, value]) => typeof value === "string" && value !== "");
}
