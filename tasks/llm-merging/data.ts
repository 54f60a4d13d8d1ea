// Makes the task's data. Smoke: questions about invented facts of two domains. Development questions about some
// facts are public. The test's questions, about other facts, and the experts' training rows (experts.py) are
// private; agents get the latter only as weights. By hand:
//   node tasks/llm-merging/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOfficial, mmlu, officialData } from "../data/official-data.ts";
import { smokeStage, writeRows } from "../data/smoke-stage.ts";
import { card } from "./card.ts";
import { domains } from "./domains.ts";
import { devRows, testRows, trainRows } from "./questions.ts";

if (isOfficial())
  await officialData({ open: { "llm-merging": "AlgorithmicResearchGroup/llm_merging" }, evaluation: mmlu });
else smoke();

function smoke(): void {
  const { open, hidden } = smokeStage("llm-merging");
  const development = domains.flatMap(devRows);
  writeRows(open, "dev.jsonl", development);
  writeFileSync(join(open, "README.md"), card(development));

  for (const domain of domains) {
    writeRows(join(hidden, "mmlu", domain.subject), "test.jsonl", testRows(domain));
    writeRows(join(hidden, "experts"), `${domain.subject}.jsonl`, trainRows(domain));
  }
}
