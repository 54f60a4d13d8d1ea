// The card of the public data, with its source and terms.
import type { BrownDocument } from "../brown/brown.ts";
import { brownSize, brownTerms } from "../brown/brown-card.ts";
import type { Instruction } from "./instructions.ts";

export function card(documents: BrownDocument[], instructions: Instruction[]): string {
  return `---
configs:
  - config_name: text
    data_files: [{ split: train, path: train.jsonl }]
  - config_name: instructions
    data_files: [{ split: train, path: instructions.jsonl }]
---
# The training data of edge-llm-training, smoke

Two files of one JSON object a line. They stand in for the two configurations of
AlgorithmicResearchGroup/edge_llm_training and have their fields. Other rows of both kinds are held out.

## \`train.jsonl\`: brown-smoke, in place of c4_combined_dataset

${brownSize(documents)}:
\`text\` (plain text, one paragraph a line).

${brownTerms}
## \`instructions.jsonl\`: instructions-smoke, in place of alpaca_cleaned

${instructions.length} pairs of eight families: \`instruction\`, \`input\`, \`output\`, a line of text each. They are made from
templates of this project (Apache-2.0) for this data; none is of Alpaca, and no model wrote any.
`;
}
