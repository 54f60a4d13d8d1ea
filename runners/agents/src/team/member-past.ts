// What a trajectory has of the members of a team before a restart.
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { Ending } from "../attempt/watch-program.ts";
import type { EarlierAttempt } from "../resume/earlier-attempt.ts";
import { isTaped } from "../resume/tape.ts";
import type { BoardMessage } from "../scaffold/scaffold.ts";

export type Past = Exclude<ReturnType<typeof pastOf>, undefined>;

/** What a member came to before a restart, up to where the attempt continues; undefined if it had not started. */
export function pastOf(earlier: EarlierAttempt | undefined, member: string) {
  const own = earlier?.counted.filter((event) => event.member === member) ?? [];
  if (!own.some(({ event }) => event === "member-start")) return undefined;
  const tape = own.filter(isTaped);
  const last = own.findLast(({ event }) => ["exec", "exec-end", "member-end"].includes(event));
  const answeredAt = own.findLastIndex((event) => event.event === "tool-result");
  return {
    ...{ tape, step: tape.filter(({ event }) => event === "model-call").length },
    ended: last?.event === "member-end",
    ending: last && "result" in last ? endingOf(last.result as RecordedResult) : undefined,
    unanswered: messagesIn(own.slice(answeredAt + 1)),
  };
}

/** In the order in which they were sent. */
export function messagesIn(events: readonly TrajectoryEvent[]): BoardMessage[] {
  return events.flatMap((event) => {
    if (event.event !== "board") return [];
    const { member: from, to, purpose, text } = event;
    return { from, to, purpose, text };
  });
}

/** As `member-end` and `exec-end` record it. */
export function resultOf(ending: Ending) {
  return ending.kind === "scaffold" ? ending.end : ending;
}

type RecordedResult = Extract<TrajectoryEvent, { event: "member-end" }>["result"];

function endingOf(result: RecordedResult): Ending {
  const isProgram = ["exited", "signalled", "time-limit"].includes(result.kind ?? "");
  return (isProgram ? result : { kind: "scaffold", end: result }) as Ending;
}
