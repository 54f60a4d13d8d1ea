// Gathers what a trajectory records of an attempt's programs and of its end, in one pass and in bounded memory.
// Nothing is concluded from words of commands, of output or of the model.
import type { AttemptEnd } from "@mlrb/formats/attempt/iterations";
import { textOf } from "./agent-line.ts";
import { evaluatedValues } from "./measured-values.ts";
import { cut, type TimedEvent, type ToolResult } from "./timed-event.ts";

type At = { at: number };
type Exit = At & { how: string; code: number | null; over: string | null };

/** What an attempt has shown so far; at first nothing. */
export class AttemptFacts {
  endMs = 0;
  ended: (At & { how: string }) | null = null;
  /** How the agent's own program ended; of a team, each member's. */
  exits = new Map<string | undefined, Exit>();
  /** A model call that was given up, with no answer after it. */
  givenUp: (At & { whose: string; cause: string }) | null = null;
  refusal: At | null = null;
  final: (At & { digest: string; files: number }) | null = null;
  /** Programs that the agent started and that ended; a program that is one agent counts once. */
  runs = { ended: 0, failed: 0, measured: 0 };
  /** Limits that it reached, each once: of its budget and of its sandbox. */
  limits = new Set<string>();
  /** Members of a team that called tools, or undefined for another agent. */
  callers = new Set<string | undefined>();
  /** Likewise, those whose own program printed a measured value. */
  measurers = new Set<string | undefined>();
}

export class FactsReader {
  readonly facts = new AttemptFacts();

  take({ event, result, index: at, sinceStartMs }: TimedEvent): void {
    const { facts } = this;
    facts.endMs = Math.max(facts.endMs, sinceStartMs);
    switch (event?.event) {
      case "exec-end": {
        const { kind = "", code = null, over } = event.result;
        const exit = { how: cut(kind), code, over: over ? cut(over.limit ?? "") : null, at };
        facts.exits.set(event.member, exit);
        if (kind === "lost") break;
        takeOwnProgram(facts, exit);
        // otherwise its runs were counted one by one
        if (!facts.callers.has(event.member) && facts.measurers.has(event.member)) facts.runs.measured++;
        break;
      }
      case "output":
        if (!facts.measurers.has(event.member) && evaluatedValues(cut(event.text)).length > 0)
          facts.measurers.add(event.member);
        break;
      case "snapshot":
        if (event.name === "final") facts.final = { at, digest: event.digest, files: event.files };
        break;
      case "model-call":
        facts.givenUp = null;
        if (event.finish === "refusal") facts.refusal = { at };
        break;
      case "model-try":
        if (event.waitMs === null) facts.givenUp = { at, whose: event.whose, cause: event.cause };
        break;
      case "tool-call":
        facts.callers.add(event.member);
        break;
      case "tool-result":
        if (result?.executed) takeRun(facts, result);
        break;
      case "end": {
        facts.ended = { how: cut(event.ended), at };
        const limit = /^(time|token|dollar|turn)-limit$/.exec(event.ended)?.[1];
        if (limit !== undefined) facts.limits.add(limit);
      }
    }
  }
}

/** The agent's own program, which the supervisor started, ended. */
function takeOwnProgram(facts: AttemptFacts, { how, code, over }: Exit): void {
  const { runs } = facts;
  runs.ended++;
  if (how !== "time-limit" && !(how === "exited" && code === 0)) runs.failed++;
  if (over) facts.limits.add(over);
}

/** The result of a call that ran a program. */
function takeRun({ runs }: AttemptFacts, { text, failed }: ToolResult): void {
  runs.ended++;
  if (failed) runs.failed++;
  else if (evaluatedValues(text).length > 0) runs.measured++;
}

/**
 * What ended the attempt and what it left, as recorded; empty if it ended by itself and left a submission.
 * `admitted` is undefined where the submission was not judged.
 */
export function attemptEnds(facts: AttemptFacts, admitted: boolean | undefined): AttemptEnd[] {
  const { exits, givenUp, refusal, final, limits } = facts;
  const { how = "", at = 0 } = facts.ended ?? {};
  const ends: AttemptEnd[] = [];
  const add = (kind: AttemptEnd["kind"], detail: string, event: number) =>
    ends.push({ kind, detail, evidence: [event] });
  const overAt = (limit: string) => exits.values().find(({ over }) => over === limit)?.at ?? at;
  const lost = exits.values().find((exit) => exit.how === "lost");
  if (lost) add("sandbox-lost", "its sandbox ended", lost.at);
  if (givenUp)
    add("call-given-up", `the last model call was given up: ${givenUp.cause} (${givenUp.whose})`, givenUp.at);
  if (how === "refusal" && refusal) add("refusal", "its model refused to go on", refusal.at);
  for (const limit of [...limits].sort()) add("limit", `it reached its ${limit} limit`, overAt(limit));
  for (const [member, { how: ended, code, over, at: event }] of exits) {
    const well = /^(lost|time-limit)$/.test(ended) || (ended === "exited" && code === 0);
    const whose = member === undefined ? "its program" : `the program of ${textOf(member, 80)}`;
    const words = code === null ? "a signal" : `exit code ${code}`;
    if (!well && over === null) add("crash", `${whose} ended with ${words}`, event);
  }
  if (how === "gave-up") add("gave-up", "its model stopped without submitting", at);
  if (how === "silent") add("silent", "its model answered nothing", at);
  if (final?.files === 0) add("no-submission", "nothing was submitted", final.at);
  else if (final && admitted === false) add("not-admitted", "its submission cannot be loaded", final.at);
  return ends;
}
