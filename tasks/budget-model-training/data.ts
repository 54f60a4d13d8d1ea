// Makes the task's data. Smoke: toy images of four classes. The labels of the test images are private.
// By hand:
//   node tasks/budget-model-training/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { officialImages } from "../data/hub-images.ts";
import { writeSplit, writeTest } from "../data/image-data.ts";
import { isOfficial } from "../data/official-data.ts";
import { smokeStage } from "../data/smoke-stage.ts";
import { dice } from "../llm-efficiency/dice.ts";
import { card } from "./card.ts";
import { stripes } from "./stripes.ts";

const column = "class";

if (isOfficial())
  await officialImages({
    source: "budget-model-train",
    name: "AlgorithmicResearchGroup/budget_model_train",
    splits: ["train", "val"],
    test: { column, seconds: 3600, memoryBytes: 32e9 },
  });
else smoke();

function smoke(): void {
  const { open, hidden } = smokeStage("budget-model-training", ["smoke", "official"]);
  const roll = dice(1);
  writeSplit(open, "train", stripes("train", 400, roll), column);
  writeSplit(open, "val", stripes("val", 80, roll), column);
  writeFileSync(join(open, "README.md"), card);
  writeTest(hidden, stripes("test", 120, roll), { column, seconds: 60, memoryBytes: 2e9 });
}
