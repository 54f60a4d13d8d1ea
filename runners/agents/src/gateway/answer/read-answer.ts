// Reads the JSON of a provider's answer in one of the four protocols, and notices what no protocol should hold: a
// key twice in one object, and signs that the provider searched.
import type { Json } from "@mlrb/kit/stage";
import { parsedJson } from "../../model/json-text.ts";
import { unclearJson } from "../../model/reported-usage.ts";
import type { CallFormat } from "../route-request.ts";
import type { AnswerReader, HeardAnswer } from "./heard-answer.ts";
import { reachIn } from "./provider-reach.ts";
import { readAnthropic } from "./read-anthropic.ts";
import { readGoogle } from "./read-google.ts";
import { readOpenaiChat, readOpenaiResponses } from "./read-openai.ts";

export type AnswerTextReader = ReturnType<typeof readAnswer>;

const readers: Record<CallFormat, () => AnswerReader> = {
  "openai-chat": readOpenaiChat,
  "openai-responses": readOpenaiResponses,
  anthropic: readAnthropic,
  google: readGoogle,
};

export function readAnswer(format: CallFormat) {
  const reader = readers[format]();
  let reach: string | undefined;
  let unclear: string | undefined;
  return {
    /** Takes a whole answer, or the data of one event. Returns its value; undefined if it is no JSON. */
    take(text: string): Json | undefined {
      const value = parsedJson(text);
      if (value === undefined) return undefined;
      unclear ??= unclearJson(text);
      reach ??= reachIn(value);
      reader.take(value);
      return value;
    },
    heard(): HeardAnswer {
      const heard = { ...reader.heard(), ...(reach !== undefined && { reach }) };
      // the provider may have meant either of two equal keys
      if (unclear === undefined) return heard;
      return { ...heard, usage: null, surcharge: `unclear JSON: ${unclear}`.slice(0, 200) };
    },
  };
}
