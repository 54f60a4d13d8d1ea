// The data of the task. Smoke: a fifth of the Brown corpus's texts to calibrate with; of the texts that all
// tasks hold out the beginnings, and questions of our own, both private. By hand:
//   node tasks/edge-llm-compression/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { brownSplit } from "../brown/brown-split.ts";
import { smokeStage, writeRows } from "../data/smoke-stage.ts";
import { card } from "./card.ts";
import { carrier, questionRows } from "./questions.ts";

/** Of a held-out text; its characters are bytes. One window, since a window takes 100 million parameters a quarter of a second. */
const heldOutBytes = 192;

const { open, hidden } = smokeStage("edge-llm-compression");
const { train, heldOut } = brownSplit();
const calibration = train.filter((_, at) => at % 5 === 2);

writeRows(
  open,
  "train.jsonl",
  calibration.map(({ content }) => ({ text: content })),
);
writeFileSync(join(open, "README.md"), card(calibration));
writeRows(
  hidden,
  "heldout.jsonl",
  heldOut.map(({ id, group, text }) => ({ id, group, text: text.slice(0, heldOutBytes) })),
);
writeRows(join(hidden, "mmlu", carrier), "test.jsonl", questionRows());
// fewer tokens than the scorers' own defaults, so that memory and speed are measured in seconds
const cost = { forwardTokens: 256, newTokens: 16, promptTokens: 64, repeats: 2 };
writeFileSync(join(hidden, "cost.json"), `${canonicalJson(cost)}\n`);
