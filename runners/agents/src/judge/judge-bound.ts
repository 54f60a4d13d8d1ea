// The most that a judge's answers about one extract can use, for the price in a plan. Pure.
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import type { RubricQuestion } from "@mlrb/formats/declared/rubric";
import { callBound, outputTokensMaxOf } from "../spending/call-charge.ts";
import { pieceBytesMax } from "./ask/extract-pieces.ts";
import { judgeMessages, quotesBytesMax } from "./ask/judge-prompt.ts";

/** Of an extract's character, with its share of indentation and of the heads of events. */
const characterBytes = 3;

export function judgeBound(given: {
  model: ModelSpec;
  rubric: { questions: RubricQuestion[] };
  votes: number;
  extractCharactersMax: number;
}): { calls: number; inputTokens: number; outputTokens: number } {
  const { model, rubric, votes, extractCharactersMax } = given;
  const room = pieceBytesMax(model);
  const bytes = extractCharactersMax * characterBytes;
  const pieces = bytes <= room ? 1 : Math.ceil((2 * bytes) / room);
  const requests = rubric.questions.flatMap((question) => {
    const asking = judgeMessages("read", { text: "", digest: "" }, { question, vote: 1 });
    const fixed = Buffer.byteLength(JSON.stringify(asking)) + 1000;
    const reads = Array<number>(pieces).fill(fixed + Math.min(bytes, room));
    const supports = Array<number>(question.parts?.length ?? 1).fill(fixed + quotesBytesMax);
    return [...reads, ...(pieces > 1 ? [fixed + room] : []), ...supports];
  });
  const bounds = requests.map((requestBytes) =>
    callBound({ requestBytes, outputTokensMax: outputTokensMaxOf(model) }),
  );
  const times = 2 * votes; // each call may be malformed and asked once more
  return {
    calls: times * bounds.length,
    inputTokens: times * bounds.reduce((sum, one) => sum + one.inputTokens, 0),
    outputTokens: times * bounds.reduce((sum, one) => sum + one.outputTokens, 0),
  };
}
