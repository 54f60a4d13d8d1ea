// The data of the task. Smoke: questions about invented facts to train on, and others, in other words, to be
// tested with; the latter are private: agents never see them. By hand:
//   node tasks/llm-efficiency/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { smokeStage, writeRows } from "../data/smoke-stage.ts";
import { card } from "./card.ts";
import { carrier, choiceRows, factsOf, trainRows } from "./facts.ts";

const seed = 1; // others were tuned on

const { open, hidden } = smokeStage("llm-efficiency");
const facts = factsOf(seed);
const train = trainRows(facts);
writeRows(open, "train.jsonl", train);
writeFileSync(join(open, "README.md"), card(train, facts.length));

writeRows(join(hidden, "mmlu", carrier), "test.jsonl", choiceRows(facts, seed));
