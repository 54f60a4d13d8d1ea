// The most that a judge's answers about one extract can use, for the price in a plan. Pure.
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import type { RubricQuestion } from "@mlrb/formats/declared/rubric";
import { callBound, outputTokensMaxOf } from "../spending/call-charge.ts";
import { pieceBytesMax } from "./ask/extract-pieces.ts";
import { judgeMessages, quotesBytesMax } from "./ask/judge-prompt.ts";

/** Of an extract's character, with its share of indentation and of the heads of events. */
const characterBytes = 3;

type Judging = {
  model: ModelSpec;
  rubric: { questions: RubricQuestion[] };
  votes: number;
  extractCharactersMax: number;
};

export function judgeBound({ model, rubric, votes, extractCharactersMax }: Judging) {
  const room = pieceBytesMax(model);
  const bytes = extractCharactersMax * characterBytes;
  const pieces = bytes <= room ? 1 : Math.ceil((2 * bytes) / room);
  const sum = { calls: 0, inputTokens: 0, outputTokens: 0 };
  const add = (calls: number, requestBytes: number) => {
    const one = callBound({ requestBytes, outputTokensMax: outputTokensMaxOf(model) });
    sum.calls += calls;
    sum.inputTokens += calls * one.inputTokens;
    sum.outputTokens += calls * one.outputTokens;
  };
  const times = 2 * votes; // each call may be malformed and asked once more
  for (const question of rubric.questions) {
    const asking = judgeMessages("read", { text: "", digest: "" }, { question, vote: 1 });
    const fixed = Buffer.byteLength(JSON.stringify(asking)) + 1000;
    add(times * pieces, fixed + Math.min(bytes, room));
    if (pieces > 1) add(times, fixed + room);
    add(times * (question.parts?.length ?? 1), fixed + quotesBytesMax);
  }
  return sum;
}
