// The card of the public data, with its source and terms.
import type { BrownDocument } from "../brown/brown.ts";
import { brownSize, brownTerms } from "../brown/brown-card.ts";

export function card(documents: BrownDocument[]): string {
  return `---
configs:
  - config_name: default
    data_files: [{ split: train, path: train.jsonl }]
---
# brown-smoke: the training text of mini-pile, smoke

${brownSize(documents)}, one JSON object a line:
\`text\` (plain text, one paragraph a line). In \`provenance.json\` this data is called \`brown-smoke\`.

It stands in for AlgorithmicResearchGroup/minipile, whose rows have the same field; MiniPile has two thousand
times as many. Other texts of the corpus are held out and are not here.

${brownTerms}`;
}
