// The card of the public data, with its source and terms.
import type { BrownDocument } from "../brown/brown.ts";
import { brownSize, brownTerms } from "../brown/brown-card.ts";

export function card(documents: BrownDocument[]): string {
  return `---
configs:
  - config_name: default
    data_files: [{ split: train, path: train.jsonl }]
---
# brown-calibration: text to read while compressing, smoke

${brownSize(documents)}, one JSON object a line:
\`text\`, plain text, one paragraph a line. In \`provenance.json\` this data is called \`brown-calibration\`.
It is for looking at what the model does, not for training.

The official task gives no data. Other texts of the corpus are held out and are not here.

${brownTerms}`;
}
