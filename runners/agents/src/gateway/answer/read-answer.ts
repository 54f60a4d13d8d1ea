// Reads the JSON of a provider's answer in one of the four protocols, and notices what no protocol should hold: a key
// twice in one object, and signs that the provider searched.
import { scanJson } from "@mlrb/kit/admission/json-scan";
import type { Json } from "@mlrb/kit/stage";
import { parsedJson } from "../../model/json-text.ts";
import type { CallFormat } from "../route-request.ts";
import type { AnswerReader, HeardAnswer } from "./heard-answer.ts";
import { reachIn } from "./provider-reach.ts";
import { readAnthropic } from "./read-anthropic.ts";
import { readGoogle } from "./read-google.ts";
import { readOpenaiChat, readOpenaiResponses } from "./read-openai.ts";

export type AnswerTextReader = {
  /** Takes a whole answer, or the data of one event. Returns its value; undefined if it is no JSON. */
  take(text: string): Json | undefined;
  heard(): HeardAnswer;
};

const readers: Record<CallFormat, () => AnswerReader> = {
  "openai-chat": readOpenaiChat,
  "openai-responses": readOpenaiResponses,
  anthropic: readAnthropic,
  google: readGoogle,
};

/** Answers have at most 64 MiB (pass-answer.ts). */
const limits = {
  depth: { max: 1000, unit: "levels of nesting", honest: "answers have under 20" },
  values: { max: 64 << 20, unit: "values", honest: "a long answer has some thousands" },
  text: { max: 64 << 20, unit: "bytes in one text", honest: "a long answer has under 1 MiB" },
};

export function readAnswer(format: CallFormat): AnswerTextReader {
  const reader = readers[format]();
  let reach: string | undefined;
  let unclear: string | undefined;
  return {
    take(text) {
      const value = parsedJson(text);
      if (value === undefined) return undefined;
      const scan = scanJson(Buffer.from(text), limits);
      if (scan.kind === "malformed") unclear ??= scan.reason;
      reach ??= reachIn(value);
      reader.take(value);
      return value;
    },
    heard() {
      const heard = { ...reader.heard(), ...(reach !== undefined && { reach }) };
      // the provider may have meant either of two equal keys
      if (unclear === undefined) return heard;
      return { ...heard, usage: null, surcharge: `unclear JSON: ${unclear}`.slice(0, 200) };
    },
  };
}
