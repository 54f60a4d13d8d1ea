// The card of the public data: the questions, and the name of the data in provenance.json.
import type { FactRow } from "../data/choice-rows.ts";

export function card(rows: FactRow[]): string {
  const facts = new Set(rows.map(({ fact }) => fact)).size;
  return `---
configs:
  - config_name: default
    data_files: [{ split: validation, path: dev.jsonl }]
---
# llm-merging-dev: development questions of llm-merging, smoke

${rows.length} questions of four choices about ${facts} invented facts of two domains, one JSON object a line with the
columns of cais/mmlu: \`question\`, \`subject\` (the domain), \`choices\`, \`answer\` (0 to 3); and \`fact\`, what is
asked after. In \`provenance.json\` this data is called \`llm-merging-dev\`.

The experts know these facts and others of the same two domains. The test asks after the others, in other words;
it is not here, and knowing these answers does not help with it.

They stand in for AlgorithmicResearchGroup/llm_merging (rows of CosmosQA and XSum to develop on). All of it was
made up for this project: the moons and fruits exist nowhere, and no question is from MMLU.
`;
}
