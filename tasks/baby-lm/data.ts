// Makes the task's data. Smoke: the Brown corpus, split by text. The held-out texts and the minimal pairs are private:
// agents never see them. By hand:
//   node tasks/baby-lm/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { brownSplit } from "../brown/brown-split.ts";
import { blimp, isOfficial, officialData } from "../data/official-data.ts";
import { smokeStage, writeRows } from "../data/smoke-stage.ts";
import { card } from "./card.ts";
import { housePairs } from "./house-pairs.ts";

if (isOfficial())
  await officialData({ open: { babylm: "AlgorithmicResearchGroup/babylm" }, evaluation: blimp });
else smoke();

function smoke(): void {
  const { open, hidden } = smokeStage("baby-lm");
  const { train, heldOut } = brownSplit("baby-lm");
  const rows = train.map(({ filename, content }) => ({ filename, content }));
  writeRows(open, "train.jsonl", rows);
  writeFileSync(join(open, "README.md"), card(train));
  writeRows(hidden, "heldout.jsonl", heldOut);
  writeRows(hidden, "pairs.jsonl", housePairs());
}
