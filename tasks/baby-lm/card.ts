// The card of the public data, with its source and terms.
import type { BrownDocument } from "../brown/brown.ts";
import { brownSize, brownTerms } from "../brown/brown-card.ts";

export function card(documents: BrownDocument[]): string {
  return `---
configs:
  - config_name: default
    data_files: [{ split: train, path: train.jsonl }]
---
# brown-smoke: the training text of baby-lm, smoke

${brownSize(documents)}, one JSON object a line:
\`filename\` (the corpus's name of the text; its second letter is the genre) and \`content\` (plain text, one
paragraph a line). In \`provenance.json\` this data is called \`brown-smoke\`.

It stands in for AlgorithmicResearchGroup/babylm, whose rows have the same two fields, and is a tenth of its
size. Other texts of the corpus are held out and are not here.

${brownTerms}`;
}
