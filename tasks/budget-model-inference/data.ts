// Makes the task's data. Smoke: toy images of digits. The labels of the test images are private.
// By hand:
//   node tasks/budget-model-inference/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { officialImages } from "../data/hub-images.ts";
import { writeSplit, writeTest } from "../data/image-data.ts";
import { isOfficial } from "../data/official-data.ts";
import { smokeStage } from "../data/smoke-stage.ts";
import { dice } from "../llm-efficiency/dice.ts";
import { card } from "./card.ts";
import { digits } from "./digits.ts";

const column = "digit_sum";

if (isOfficial())
  await officialImages({
    source: "budget-model-inference",
    name: "AlgorithmicResearchGroup/budget_model_inference",
    splits: ["train"],
    test: { column, seconds: 3600, memoryBytes: 32e9 },
  });
else smoke();

function smoke(): void {
  const { open, hidden } = smokeStage("budget-model-inference", ["smoke", "official"]);
  const roll = dice(2);
  writeSplit(open, "train", digits("train", 800, roll), column);
  writeFileSync(join(open, "README.md"), card);
  writeTest(hidden, digits("test", 150, roll), { column, seconds: 60, memoryBytes: 2e9 });
}
