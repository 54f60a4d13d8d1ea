// Makes the task's data. Smoke: the Brown corpus, split by text. The held-out texts and the minimal pairs are
// private: agents never see them. By hand:
//   node tasks/baby-lm/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { brownCard } from "../brown/brown-card.ts";
import { brownSplit } from "../brown/brown-split.ts";
import { blimp, isOfficial, officialData } from "../data/official-data.ts";
import { smokeStage, writeRows } from "../data/smoke-stage.ts";
import { housePairs } from "./house-pairs.ts";

/** What the card says of the public data. */
const about = `\`filename\` (the corpus's name of the text; its second letter is the genre) and \`content\` (plain text, one
paragraph a line). In \`provenance.json\` this data is called \`brown-smoke\`.

It stands in for AlgorithmicResearchGroup/babylm, whose rows have the same two fields, and is a tenth of its
size. Other texts of the corpus are held out and are not here.`;

if (isOfficial())
  await officialData({ open: { babylm: "AlgorithmicResearchGroup/babylm" }, evaluation: blimp });
else smoke();

function smoke(): void {
  const { open, hidden } = smokeStage("baby-lm");
  const { train, heldOut } = brownSplit("baby-lm");
  const rows = train.map(({ filename, content }) => ({ filename, content }));
  writeRows(open, "train.jsonl", rows);
  writeFileSync(
    join(open, "README.md"),
    brownCard("brown-smoke: the training text of baby-lm, smoke", train, about),
  );
  writeRows(hidden, "heldout.jsonl", heldOut);
  writeRows(hidden, "pairs.jsonl", housePairs());
}
