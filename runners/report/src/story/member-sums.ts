// The members of a team and what each used: by the sealed ledger, or, while there is none, by the trajectory. Pure.
import { formatDuration } from "@mlrb/core/text/units";
import type { Ledger, LedgerMember } from "@mlrb/formats/attempt/ledger";
import { type TrajectorySummary, totalUsage } from "../exports/trajectory-walk.ts";
import { plainText } from "../read/plain-text.ts";
import { endWords } from "./event-words.ts";

/** `kind`: unknown where its start is not on record. */
export type MemberSums = Omit<LedgerMember, "kind"> & { kind: string };

/** A preset has at most 8; a damaged trajectory may name any number. */
const membersMax = 20;

/** Empty unless the agent is a team. */
export function memberSums(
  { members, conversations }: TrajectorySummary,
  ledger: Pick<Ledger, "members"> | null,
): MemberSums[] {
  if (ledger?.members) return ledger.members.slice(0, membersMax);
  return members
    .slice(0, membersMax)
    .map(({ name, agent, kind, waitedMs, messages, messageCharacters, result }) => {
      const own = conversations.filter(({ member }) => member === name);
      const { calls, inputTokens, outputTokens, dollars } = totalUsage(own);
      return {
        ...{
          name,
          agent,
          kind,
          calls,
          inputTokens,
          outputTokens,
          dollars,
          waitedMs,
          messages,
          messageCharacters,
        },
        end: result === null ? "not ended" : endWords(result),
      };
    });
}

/** The head of each column with the text of its cells, for the terminal and the page. */
export const memberCells: Record<string, (member: MemberSums) => string> = {
  member: ({ name }) => plainText(name),
  agent: ({ agent }) => plainText(agent),
  kind: ({ kind }) => plainText(kind),
  calls: ({ calls }) => `${calls}`,
  "input tokens": ({ inputTokens }) => `${inputTokens}`,
  "output tokens": ({ outputTokens }) => `${outputTokens}`,
  dollars: ({ dollars }) => (dollars === null ? "unknown" : dollars.toFixed(4)),
  waited: ({ waitedMs }) => formatDuration(waitedMs),
  "messages sent": ({ messages }) => `${messages}`,
  characters: ({ messageCharacters }) => `${messageCharacters}`,
  ended: ({ end }) => plainText(end),
};

/** One line for each member. */
export function memberLines(members: MemberSums[]): string[] {
  return members.map((member) => {
    const [name, ...cells] = Object.entries(memberCells).map(([head, text]) => [head, text(member)] as const);
    return `${name![1]}: ${cells.map(([head, text]) => `${head} ${text}`).join(", ")}`;
  });
}
