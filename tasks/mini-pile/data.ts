// Makes the task's data. Smoke: the Brown corpus, split by text. The held-out texts are private: agents never see
// them. By hand:
//   node tasks/mini-pile/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { brownCard } from "../brown/brown-card.ts";
import { brownSplit } from "../brown/brown-split.ts";
import { isOfficial, officialData, superGlue } from "../data/official-data.ts";
import { smokeStage, writeRows } from "../data/smoke-stage.ts";

/** What the card says of the public data. */
const about = `\`text\` (plain text, one paragraph a line). In \`provenance.json\` this data is called \`brown-smoke\`.

It stands in for AlgorithmicResearchGroup/minipile, whose rows have the same field; MiniPile has two thousand
times as many. Other texts of the corpus are held out and are not here.`;

if (isOfficial())
  await officialData({ open: { minipile: "AlgorithmicResearchGroup/minipile" }, evaluation: superGlue });
else smoke();

function smoke(): void {
  const { open, hidden } = smokeStage("mini-pile");
  const { train, heldOut } = brownSplit("mini-pile");
  const rows = train.map(({ content }) => ({ text: content }));
  writeRows(open, "train.jsonl", rows);
  writeFileSync(
    join(open, "README.md"),
    brownCard("brown-smoke: the training text of mini-pile, smoke", train, about),
  );
  writeRows(hidden, "heldout.jsonl", heldOut);
}
