// Makes the task's data. Smoke: this project's statements, in the hub's fields, split by a hash of their names.
// Official: the downloads of the hub (official.ts). The test part is private: agents never see it. By hand:
//   node tasks/math-reasoning/data.ts --param source=smoke --output public=DIR --output private=DIR
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { isOfficial } from "../data/official-data.ts";
import { smokeStage, writeRows } from "../data/smoke-stage.ts";
import { card } from "./card.ts";
import { house } from "./house.ts";
import { makeItems } from "./items.ts";
import { officialMath } from "./official.ts";

if (isOfficial()) await officialMath();
else makeSmoke();

function makeSmoke(): void {
  const { open, hidden } = smokeStage("math-reasoning");
  const math = join(hidden, "math");

  const items = makeItems();
  for (const part of ["train", "dev"] as const)
    writeRows(
      open,
      `${part}.jsonl`,
      items[part].map(({ group: _, phrasing: __, ...row }) => row),
    );
  writeFileSync(join(open, "README.md"), card(items));
  writeRows(math, "test.jsonl", items.test);
  for (const folder of [open, math]) writeFileSync(join(folder, "House.lean"), house);

  const settings = {
    formatVersion: 1,
    // every reference has fewer than 70 words; without a limit of seconds results are repeatable
    generation: { maxNewTokens: 96, secondsPerItem: null },
    lean: {
      language: "lean4",
      prelude: true,
      modules: ["House"],
      imports: ["House"],
      preamble: "",
      heartbeats: 20_000,
      seconds: 20,
      memoryBytes: 1_000_000_000,
    },
  };
  writeFileSync(join(math, "settings.json"), `${canonicalJson(settings, 2)}\n`);
}
