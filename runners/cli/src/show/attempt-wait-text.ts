// What an attempt waits for, in words, with the exact command to type.
// Pure: the time is an argument.

import { resumeCommand, waitText } from "@mlrb/core/ports/attempt-wait";
import type { AttemptWait } from "@mlrb/formats/attempt/attempt-wait";
import type { WaitingAttempt } from "@mlrb/local/attempts/attempt-waits";
import { inTypedForm } from "../request/typed-program.ts";

export type WaitPlace = {
  repository: string;
  /** The folder of the state; a command names it unless it is the repository. */
  root: string;
};

export type ShownWait = {
  stage: string;
  /** null if the attempt does not wait for a person. */
  command: string | null;
  /** Never empty; the most important wait first. */
  waits: AttemptWait[];
};

export function shownWait({ name, card, waits }: WaitingAttempt, { repository, root }: WaitPlace): ShownWait {
  const forPerson = waits.some(({ why }) => why === "operator");
  const command = forPerson ? inTypedForm(resumeCommand(name, root === repository ? undefined : root)) : null;
  return { stage: card.slot.stage, command, waits };
}

/** A provider's short pause is not told. */
const shortWaitMs = 10_000;

/** What a wait is told as, once: undefined while it is short and no person must end it. */
export function toldWait({ command, waits }: ShownWait, now: number): string | undefined {
  const { why, cause, since } = waits[0]!;
  const isTold = command !== null || now - Date.parse(since) >= shortWaitMs;
  return isTold ? `${why}: ${cause}` : undefined;
}

/** `now` in milliseconds since 1970. */
export function shownWaitText({ command, waits }: Pick<ShownWait, "command" | "waits">, now: number): string {
  const more = waits.length - 1;
  const others = more === 0 ? "" : ` (and ${more} more ${more === 1 ? "call" : "calls"})`;
  return `${waitText(waits[0]!, { now, resume: command })}${others}`;
}
