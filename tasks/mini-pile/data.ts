// Makes the task's data. Smoke: the Brown corpus, split by text. The held-out texts are private: agents never see them.
// By hand:
//   node tasks/mini-pile/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { brownSplit } from "../brown/brown-split.ts";
import { isOfficial, officialData, superGlue } from "../data/official-data.ts";
import { smokeStage, writeRows } from "../data/smoke-stage.ts";
import { card } from "./card.ts";

if (isOfficial())
  await officialData({ open: { minipile: "AlgorithmicResearchGroup/minipile" }, evaluation: superGlue });
else smoke();

function smoke(): void {
  const { open, hidden } = smokeStage("mini-pile");
  const { train, heldOut } = brownSplit("mini-pile");
  const rows = train.map(({ content }) => ({ text: content }));
  writeRows(open, "train.jsonl", rows);
  writeFileSync(join(open, "README.md"), card(train));
  writeRows(hidden, "heldout.jsonl", heldOut);
}
