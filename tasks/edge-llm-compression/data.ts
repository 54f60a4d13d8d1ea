// Makes the task's data. Smoke: a fifth of the Brown corpus for calibration is public. The beginnings of the
// held-out texts are private. By hand:
//   node tasks/edge-llm-compression/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { brownCard } from "../brown/brown-card.ts";
import { brownSplit } from "../brown/brown-split.ts";
import { isOfficial, mmlu, officialData } from "../data/official-data.ts";
import { smokeStage, writeRows } from "../data/smoke-stage.ts";

/** Bytes (and characters) of a held-out text: one window, which takes 100 million parameters an eighth of a second. */
const heldOutBytes = 96;

/** What the card says of the public data. */
const about = `\`text\`, plain text, one paragraph a line. In \`provenance.json\` this data is called \`brown-calibration\`.
It is for looking at what the model does, not for training.

The official task gives no data. Other texts of the corpus are held out and are not here.`;

if (isOfficial()) await officialData({ open: {}, evaluation: mmlu });
else smoke();

function smoke(): void {
  const { open, hidden } = smokeStage("edge-llm-compression");
  const { train, heldOut } = brownSplit("edge-llm-compression");
  const calibration = train.filter((_, at) => at % 5 === 2);

  writeRows(
    open,
    "train.jsonl",
    calibration.map(({ content }) => ({ text: content })),
  );
  writeFileSync(
    join(open, "README.md"),
    brownCard("brown-calibration: text to read while compressing, smoke", calibration, about),
  );
  writeRows(
    hidden,
    "heldout.jsonl",
    heldOut.map(({ id, group, text }) => ({ id, group, text: text.slice(0, heldOutBytes) })),
  );
  // fewer tokens than the scorer's defaults, so that measuring speed takes seconds
  const cost = { newTokens: 8, promptTokens: 32, repeats: 2 };
  writeFileSync(join(hidden, "cost.json"), `${canonicalJson(cost)}\n`);
}
