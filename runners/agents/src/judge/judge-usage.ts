// What a judge's answers about one extract use, for the price in a plan. An estimate: --max-cost is what holds. Pure.
import type { RubricQuestion } from "@mlrb/formats/declared/rubric";

/** English has 4 characters a token. An answer is a few quotes and sentences. */
const [tokenCharacters, answerTokens] = [4, 500];
/** Of the instructions around a question. */
const promptCharacters = 3000;

type Judging = {
  rubric: { questions: RubricQuestion[] };
  votes: number;
  /** Of the extract. */
  characters: number;
};

/** As if no answer were malformed and nothing came from a provider's cache. */
export function judgeUsage({ rubric, votes, characters }: Judging) {
  const sum = { calls: 0, inputTokens: 0, outputTokens: 0 };
  for (const question of rubric.questions) {
    const parts = question.parts?.length ?? 1;
    const asked = characters + promptCharacters + JSON.stringify(question).length;
    const supported = parts * promptCharacters; // a call on the quotes of each answer
    sum.calls += votes * (1 + parts);
    sum.inputTokens += Math.ceil((votes * (asked + supported)) / tokenCharacters);
    sum.outputTokens += votes * 2 * parts * answerTokens;
  }
  return sum;
}
