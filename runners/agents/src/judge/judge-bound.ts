// The most calls and tokens that a judge's answers about one extract can take. Pure.
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import type { Rubric } from "@mlrb/formats/declared/rubric";
import { callBound, outputTokensMaxOf } from "../spending/call-charge.ts";

/** Of instructions, and of the answer's form. */
const frameBytes = 8_000;
/** A malformed output is asked once more. */
const tries = 2;
/** UTF-8 bytes that one UTF-16 unit can take. */
const bytesPerCharacter = 3;

export function judgeBound({
  model,
  rubric,
  votes,
  extractCharactersMax,
}: {
  model: Pick<ModelSpec, "contextTokens" | "maxOutputTokens" | "options">;
  rubric: Pick<Rubric, "questions">;
  votes: number;
  extractCharactersMax: number;
}): { calls: number; inputTokens: number; outputTokens: number } {
  const { contextTokens } = model;
  const extractBytes = extractCharactersMax * bytesPerCharacter;
  const bound = { calls: 0, inputTokens: 0, outputTokens: 0 };
  for (const question of rubric.questions) {
    const own = JSON.stringify(question).length * bytesPerCharacter + frameBytes;
    const call = callBound({ requestBytes: extractBytes + own, outputTokensMax: outputTokensMaxOf(model) });
    // one call reads, another one sees the quotes
    const calls = votes * tries * 2;
    bound.calls += calls;
    bound.inputTokens += calls * Math.min(contextTokens, call.inputTokens);
    bound.outputTokens += calls * Math.min(contextTokens, call.outputTokens);
  }
  return bound;
}
