// The data of the task. Smoke: questions about invented facts of two domains. Public are development
// questions about some facts; private are the test's, about others, and what the experts are trained on
// (experts.py), which agents meet only as weights. By hand:
//   node tasks/llm-merging/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { smokeStage, writeRows } from "../data/smoke-stage.ts";
import { card } from "./card.ts";
import { domains } from "./domains.ts";
import { devRows, testRows, trainRows } from "./questions.ts";

const { open, hidden } = smokeStage("llm-merging");
const development = domains.flatMap(devRows);
writeRows(open, "dev.jsonl", development);
writeFileSync(join(open, "README.md"), card(development));

for (const domain of domains) {
  writeRows(join(hidden, "mmlu", domain.subject), "test.jsonl", testRows(domain));
  writeRows(join(hidden, "experts"), `${domain.subject}.jsonl`, trainRows(domain));
}
