// Makes the task's data. Smoke: public questions about invented facts for training, and private questions in other
// words for the test, which agents never see. By hand:
//   node tasks/llm-efficiency/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOfficial, mmlu, officialData } from "../data/official-data.ts";
import { smokeStage, writeRows } from "../data/smoke-stage.ts";
import { card } from "./card.ts";
import { carrier, choiceRows, factsOf, trainRows } from "./facts.ts";

const seed = 1; // parameters were tuned on other seeds

if (isOfficial()) await officialData({ open: {}, evaluation: mmlu });
else smoke();

function smoke(): void {
  const { open, hidden } = smokeStage("llm-efficiency");
  const facts = factsOf(seed);
  const train = trainRows(facts);
  writeRows(open, "train.jsonl", train);
  writeFileSync(join(open, "README.md"), card(train, facts.length));

  writeRows(join(hidden, "mmlu", carrier), "test.jsonl", choiceRows(facts, seed));
}
