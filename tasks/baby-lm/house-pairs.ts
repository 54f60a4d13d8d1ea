// Makes the minimal pairs of `house-pairs`: a sentence, and the same sentence with one wrong word. Rows have
// BLiMP's shape, so lm-eval's code for BLiMP can run on them. The pairs come from this project's templates and
// frequent words of the Brown corpus. They show that the scorer measures and say nothing about English, so they
// are never called BLiMP. Where a template allows, the right word of one pair is the wrong word of another
// (was/were, this/these): a model that only prefers a word gets half.
import { paradigms, type Template } from "./paradigms.ts";

export type Pair = {
  sentence_good: string;
  sentence_bad: string;
  /** The phenomenon, e.g. `agreement`. */
  linguistics_term: string;
  /** The paradigm, e.g. `agreement_across_phrase`. */
  UID: string;
  pair_id: string;
};

const pairsPerParadigm = 40;

/** All pairs; every call returns the same pairs in the same order. */
export function housePairs(): Pair[] {
  return paradigms.flatMap(({ name, phenomenon, templates }) =>
    spread(templates.map(sentences), pairsPerParadigm).map(([good, bad], at) => ({
      UID: name,
      linguistics_term: phenomenon,
      pair_id: String(at),
      sentence_bad: bad,
      sentence_good: good,
    })),
  );
}

type GoodBad = [good: string, bad: string];

/** All fillings of a template: `{a}` from its word list; `[good|bad]` is the only difference. */
function sentences({ text, words }: Template): GoodBad[] {
  let filled = [text];
  for (const [slot, choices] of Object.entries(words)) {
    filled = filled.flatMap((sentence) => choices.map((word) => sentence.replaceAll(`{${slot}}`, word)));
  }
  return filled.map((sentence) => [
    capital(sentence.replace(/\[(.*?)\|(.*?)\]/g, "$1")),
    capital(sentence.replace(/\[(.*?)\|(.*?)\]/g, "$2")),
  ]);
}

/** `count` pairs: the same number from each template, evenly spread over its fillings. */
function spread(byTemplate: GoodBad[][], count: number): GoodBad[] {
  const each = count / byTemplate.length;
  return byTemplate.flatMap((all) => {
    if (!Number.isInteger(each) || all.length < each) {
      throw new Error(`bug: ${each} pairs wanted of a template with ${all.length} fillings`);
    }
    return Array.from({ length: each }, (_, at) => all[Math.floor((at * all.length) / each)] as GoodBad);
  });
}

function capital(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
