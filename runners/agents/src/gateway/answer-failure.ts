// The failure of a call whose answer broke off, complained or was none. Pure.
import { causeOf, failureOf } from "../model/cause-of.ts";
import type { ModelFailure } from "../model/model-client.ts";
import type { HeardAnswer } from "./answer/heard-answer.ts";
import type { NoAnswer } from "./pass-answer.ts";

/** `broken`: how the connection ended early. Undefined if the answer is whole. */
export function failureIn(heard: HeardAnswer, broken: string | undefined): ModelFailure | undefined {
  const complained = heard.complaint === null ? undefined : causeOf(heard.complaint, "program");
  const cut = broken ?? (heard.whole ? undefined : "the stream ended before the answer did");
  if (cut === undefined && !complained) return undefined;
  const known = complained && complained.cause !== "unforeseen" ? complained : undefined;
  const detail = cut ?? complained?.detail ?? "";
  return { ...(known ?? failureOf("cut-stream", { detail })), usage: heard.usage };
}

export function causeOfNoAnswer({ cause, message, responseBody }: NoAnswer): ModelFailure {
  const complained = causeOf({ responseBody }, "program");
  // a known complaint says more than the form of the body
  if (/"error"/u.test(responseBody) && complained.cause !== "unforeseen") return complained;
  return failureOf(cause, { detail: message, requester: "program" });
}
