// Words for an attempt whose provider searched or fetched although the attempt has no network. Pure.
import type { ModelSpending } from "@mlrb/formats/attempt/ledger";

/** `without a network, 2 answers show searches or tools of the provider (url_citation)`. */
export function reachedWords({ calls, what }: NonNullable<ModelSpending["reached"]>): string {
  const answers = calls === 1 ? "1 answer shows" : `${calls} answers show`;
  return `without a network, ${answers} searches or tools of the provider (${what.join(", ")})`;
}
