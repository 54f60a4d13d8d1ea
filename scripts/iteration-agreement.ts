// Prints the agreement of the rules that find iterations and failures with the hand-labelled set, and each
// disagreement: node scripts/iteration-agreement.ts
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { agreement, agreementText } from "@mlrb/core/iterations/testing/agreement";
import { type Labelled, labelledTrajectory } from "@mlrb/core/iterations/testing/labelled-trajectory";

const folder = join(import.meta.dirname, "../runners/core/src/iterations/labelled");

export function labelledSet(): Labelled[] {
  return globSync("*.jsonl", { cwd: folder })
    .sort()
    .map((file) => labelledTrajectory(basename(file, ".jsonl"), readFileSync(join(folder, file), "utf8")));
}

if (import.meta.main) {
  const set = labelledSet();
  const wanted = process.argv[2]; // `tuning` hides the held-out half while rules are written
  const shown = wanted === undefined ? set : set.filter(({ split }) => split === wanted);
  console.log(agreementText(shown));
  console.log(`\n${agreement(shown).differ.join("\n")}`);
}
