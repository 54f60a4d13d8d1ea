// What each member of a team used, counted from the events of the trajectory: the same after a restart.
import type { Ledger, LedgerMember } from "@mlrb/formats/attempt/ledger";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { boardTools } from "../scaffold/tools/board.ts";
import type { TeamMember } from "./team-request.ts";

type Spent = NonNullable<Ledger["talking"]>;

const talks = new Set(boardTools.map(({ spec }) => spec.name));

export class TeamTally {
  readonly #members: Map<string, LedgerMember>;
  /** Undefined without a member whose tool calls are known. */
  readonly #talking: Spent | undefined;

  constructor(members: readonly TeamMember[], earlier: readonly TrajectoryEvent[]) {
    this.#members = new Map(
      members.map(({ name, agent, kind }) => [
        name,
        {
          name,
          agent,
          kind,
          ...nothing(),
          waitedMs: 0,
          messages: 0,
          messageCharacters: 0,
          end: "not started",
        },
      ]),
    );
    if (members.some(({ kind }) => kind === "llm")) this.#talking = nothing();
    for (const event of earlier) this.take(event);
  }

  take(event: TrajectoryEvent): void {
    const member = this.#members.get(event.member ?? "");
    if (!member) return;
    switch (event.event) {
      case "model-call": {
        const { toolCalls } = event;
        const isTalk = toolCalls.length > 0 && toolCalls.every(({ name }) => talks.has(name));
        for (const sum of isTalk && this.#talking ? [member, this.#talking] : [member]) {
          sum.calls++;
          add(sum, event);
          if (event.dollars === null) sum.dollars = null;
        }
        return;
      }
      case "model-try":
        // without usage it may have cost nothing
        add(member, event);
        if (event.usage !== null && event.dollars === null) member.dollars = null;
        return;
      case "member-start":
        member.end = "not ended";
        return;
      case "member-end":
        member.end = endText(event.result);
        return;
      case "member-wait":
        member.waitedMs += event.durationMs;
        return;
      case "board":
        member.messages++;
        member.messageCharacters += event.text.length;
        return;
      default:
    }
  }

  ledger(): Pick<Ledger, "members" | "talking"> {
    return structuredClone({
      members: [...this.#members.values()],
      ...(this.#talking && { talking: this.#talking }),
    });
  }
}

function nothing(): Spent {
  return { calls: 0, inputTokens: 0, outputTokens: 0, dollars: 0 };
}

function add(
  sum: Spent,
  { usage, dollars }: Extract<TrajectoryEvent, { event: "model-call" | "model-try" }>,
) {
  sum.inputTokens += usage?.inputTokens ?? 0;
  sum.outputTokens += usage?.outputTokens ?? 0;
  if (sum.dollars !== null) sum.dollars += dollars ?? 0;
}

type MemberResult = Extract<TrajectoryEvent, { event: "member-end" }>["result"];

function endText({ kind = "ended", code, signal, limit }: MemberResult): string {
  return [kind, code ?? signal ?? limit].filter((part) => part !== undefined).join(" ");
}
