// Sheets on which people label where attempts failed, blind to each other and to the rules, and the same sheet as the
// rules fill it in. scripts/label-agreement.ts compares two filled sheets. Pure.

import { ResearchReader } from "@mlrb/core/iterations/attempt-iterations";
import { type Random, seededRandom } from "@mlrb/core/statistics/random";
import { failureOwner } from "@mlrb/formats/attempt/failure-owner";
import { stagesOfResearch } from "@mlrb/formats/attempt/iterations";
import { csvLine } from "../formats/csv-line.ts";
import type { AttemptSource } from "./attempt-source.ts";

/** Sheets for two people, and the rules' own. */
export const labelSheets = ["person-1", "person-2", "rules"] as const;
export type LabelSheet = (typeof labelSheets)[number];

/** The columns that are filled in; both may be "none". */
const whoColumn = "who";
const whereColumn = "where";

const columns = [
  ...["attempt", "task", "agent", "seed", "ended", "events"],
  ...[whoColumn, whereColumn, "event numbers that show it", "notes"],
];

/** One row for each attempt. Each person gets another order, the same in every export of these attempts. */
export function* labelSheet(sources: readonly AttemptSource[], sheet: LabelSheet): Generator<string> {
  yield csvLine(columns);
  for (const source of shuffled(sources, seededRandom(labelSheets.indexOf(sheet)))) {
    const { id, axes, ledger } = source;
    const { events, who, where, evidence } = byRules(source);
    const filled = sheet === "rules" ? [who, where, evidence, ""] : ["", "", "", ""];
    const ended = ledger.read?.ended ?? "unknown";
    yield csvLine([id.slice(0, 12), ...named(axes), ended, events, ...filled]);
  }
}

/** The answers that a sheet may hold, for its reader. */
export const labelAnswers: Record<string, readonly string[]> = {
  [whoColumn]: [...failureOwner.enum, "none"],
  [whereColumn]: [...stagesOfResearch, "cannot-tell", "none"],
};

function named({ task = "", agent = "", seed = "" }: AttemptSource["axes"]): (string | number)[] {
  return [task, agent, seed];
}

function byRules(source: AttemptSource) {
  const reader = new ResearchReader();
  let events = 0;
  for (const line of source.lines()) {
    if (line.kind === "broken") break;
    events++;
    reader.see(line.kind === "event" ? line.event : undefined, line);
  }
  const found = reader.end();
  const failure = found.kind === "found" ? found.failure : null;
  const { whose: who = "none", where = "none", evidence = [] } = failure ?? {};
  return { events, who, where, evidence: evidence.join(" ") };
}

/** Fisher and Yates. */
function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const all = [...items];
  for (let last = all.length - 1; last > 0; last--) {
    const other = random.integer(last + 1);
    [all[last], all[other]] = [all[other]!, all[last]!];
  }
  return all;
}
