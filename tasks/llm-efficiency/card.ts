// The card of the public data: the facts, and the name of the data in provenance.json.
import type { TrainRow } from "./facts.ts";

export function card(rows: TrainRow[], facts: number): string {
  return `---
configs:
  - config_name: default
    data_files: [{ split: train, path: train.jsonl }]
---
# invented-facts: the training text of llm-efficiency, smoke

${rows.length} questions with their answers about ${facts} invented facts, one JSON object a line with the columns of
databricks/databricks-dolly-15k: \`instruction\` (the question), \`context\` (empty), \`response\` (the answer, one word)
and \`category\` (the kind of fact). The ${rows.length / facts} questions after one fact stand together; facts of one kind are
asked after in the same ${rows.length / facts} ways, in the same order. In \`provenance.json\` this data is called \`invented-facts\`.

All of it was made up for this project and is under its license, Apache-2.0: no such order or
guild exists, and no model has read of one. The test asks after the same facts in other words; it is not here.
`;
}
