// What each member of a team used, by the sealed ledger. Pure.
import { formatDuration } from "@mlrb/core/text/units";
import type { LedgerMember } from "@mlrb/formats/attempt/ledger";
import { plainText } from "../read/plain-text.ts";

/** The head of each column with the text of its cells, for the terminal and the page. */
export const memberCells: Record<string, (member: LedgerMember) => string> = {
  member: ({ name }) => plainText(name),
  agent: ({ agent }) => plainText(agent),
  kind: ({ kind }) => kind,
  calls: ({ calls }) => `${calls}`,
  "input tokens": ({ inputTokens }) => `${inputTokens}`,
  "output tokens": ({ outputTokens }) => `${outputTokens}`,
  dollars: ({ dollars }) => (dollars === null ? "unknown" : dollars.toFixed(4)),
  waited: ({ waitedMs }) => formatDuration(waitedMs),
  "messages sent": ({ messages }) => `${messages}`,
  characters: ({ messageCharacters }) => `${messageCharacters}`,
  ended: ({ end }) => plainText(end),
};

/** `member lead, agent thinker, …` */
export function memberLine(member: LedgerMember): string {
  const cells = Object.entries(memberCells).map(([head, text]) => `${head} ${text(member)}`);
  return cells.join(", ");
}
