// What a provider's answer says, whichever protocol it is in, whole or in pieces: for the record and the ledger.
// Nothing here changes what the program is sent.
import type { ModelUsage } from "@mlrb/formats/attempt/trajectory";
import type { Json } from "@mlrb/kit/stage";

export type HeardAnswer = {
  text: string;
  reasoning: string | null;
  toolCalls: { id: string; name: string; input: string }[];
  finish: "stop" | "tool-calls" | "length" | "refusal" | "other";
  usage: ModelUsage | null;
  answeredBy: string | null;
  /** Whether the provider said that this was all. */
  whole: boolean;
  /** What it complained of in place of an answer or in the middle of one, as it said it. */
  complaint: Json | null;
};

export type AnswerReader = {
  /** A whole answer, or one event of a stream. */
  take(value: Json): void;
  heard(): HeardAnswer;
};

export function emptyAnswer(): HeardAnswer {
  return {
    text: "",
    reasoning: null,
    toolCalls: [],
    finish: "other",
    usage: null,
    answeredBy: null,
    whole: false,
    complaint: null,
  };
}

/** The value at a path of keys and indices; undefined where there is none. */
export function at(value: Json | undefined, ...path: (string | number)[]): Json | undefined {
  let here: Json | undefined = value;
  for (const key of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = Object.hasOwn(here, key) ? (here as Record<string | number, Json>)[key] : undefined;
  }
  return here;
}

export function textAt(value: Json | undefined, ...path: (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

export function countAt(value: Json | undefined, ...path: (string | number)[]): number | null {
  const found = at(value, ...path);
  return typeof found === "number" && Number.isInteger(found) && found >= 0 ? found : null;
}

export function listAt(value: Json | undefined, ...path: (string | number)[]): Json[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}
