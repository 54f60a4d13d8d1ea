// Makes the task's data. Smoke: the Brown corpus, split by text, and this project's instruction pairs. Held-out
// texts and pairs are private: agents never see them. By hand:
//   node tasks/edge-llm-training/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { brownSplit } from "../brown/brown-split.ts";
import { isOfficial, officialData, superGlue } from "../data/official-data.ts";
import { smokeStage, writeRows } from "../data/smoke-stage.ts";
import { card } from "./card.ts";
import { instructionPairs, instructionText } from "./instructions.ts";

if (isOfficial())
  await officialData({
    open: { "edge-llm-training": "AlgorithmicResearchGroup/edge_llm_training" },
    evaluation: superGlue,
  });
else smoke();

function smoke(): void {
  const { open, hidden } = smokeStage("edge-llm-training");
  const brown = brownSplit("edge-llm-training");
  const pairs = instructionPairs();

  const texts = brown.train.map(({ content }) => ({ text: content }));
  writeRows(open, "train.jsonl", texts);
  writeRows(open, "instructions.jsonl", pairs.train);
  writeFileSync(join(open, "README.md"), card(brown.train, pairs.train));

  // `group` is the kind: the scorer weights kinds equally. Pairs of one family are similar, so they are a cluster.
  writeRows(hidden, "heldout.jsonl", [
    ...brown.heldOut.map(({ id, text }) => ({ id, group: "text", text })),
    ...pairs.heldOut.map(({ family, row }, at) => ({
      id: `${family}-${at}`,
      group: "instructions",
      cluster: family,
      text: instructionText(row),
    })),
  ]);
}
