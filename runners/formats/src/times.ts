// times.json: what the attempts took, by their ledgers. Apart from the report, whose bytes must not depend on
// seconds.

import { uncheckedFields, uncheckedNames } from "./attempt/attempt-record.ts";
import { attemptLedger, servedModel } from "./attempt/ledger.ts";
import { memberOrigin } from "./attempt/record-origin.ts";
import { interventionSums } from "./declared/intervention.ts";
import * as t from "./schema.ts";
import { recordFacts } from "./stage/collected.ts";

/** took.json: what a stage took whose time is charged. */
export const took = t.wholeFile("mlrb took", 1, { seconds: t.amount });

export const times = t.wholeFile("mlrb times", 1, {
  label: t.anyText,
  attempts: t.listOf(
    t.wholeExcept(
      [
        ...["devSeconds", "reached", "served", "origin", ...uncheckedNames, "resumed", "interventions"],
        ...["timeSpent", "machineHours", "members", "talking"],
      ] as const,
      {
        task: t.anyText,
        agent: t.anyText,
        seed: t.seed,
        wallSeconds: t.about(
          t.numberOrNull,
          "by a monotonic clock; null where there is no ledger that can be read",
        ),
        workingSeconds: t.numberOrNull,
        budgetSeconds: t.numberOrNull,
        devSeconds: t.about(t.amount, "of scoring it on public rows, for the best of k; absent without"),
        ended: t.textOrNull,
        tokens: t.about(t.numberOrNull, "unknown is null, never 0"),
        dollars: t.numberOrNull,
        resumed: recordFacts.resumed,
        interventions: interventionSums,
        gpuHours: t.numberOrNull,
        machineHours: t.about(
          t.number,
          "working hours times GPUs, or times machines without one; absent where there is no ledger",
        ),
        gpuBusyHours: t.about(t.numberOrNull, "of those hours, in which they computed"),
        gpuMemoryPeakMiB: t.about(t.numberOrNull, "the most memory in use on one of its GPUs; null: unknown"),
        firstValidSeconds: t.about(
          t.numberOrNull,
          "to the first snapshot of a submission that can be loaded",
        ),
        improvementPerHour: t.about(
          t.numberOrNull,
          "of what the agent itself said, in the metric's unit; at least 0",
        ),
        unusedShare: t.about(t.numberOrNull, "of its budget of working time, 0 to 1; null: unknown"),
        sinceImprovementSeconds: t.about(
          t.numberOrNull,
          "from the last improvement of the main metric of its iterations to its end; null: unknown",
        ),
        bestSoFar: t.about(
          t.listOf(t.wholeObject({ seconds: t.number, value: t.number })),
          "each improvement of the main metric of its iterations, the first value included; empty: unknown",
        ),
        timeSpent: t.about(
          t.wholeObject({
            waitSeconds: t.number,
            modelSeconds: t.about(t.number, "in model calls, outside of waits"),
            programSeconds: t.about(t.number, "in programs, outside of waits and model calls"),
          }),
          "parts of its time; absent if unknown",
        ),
        reached: t.about(
          t.anyText,
          "what shows that its provider searched, fetched or ran a tool, though the attempt has no network; absent without it",
        ),
        served: t.about(t.listOf(servedModel), "which models answered its calls; absent without a call"),
        members: attemptLedger.properties.members,
        talking: attemptLedger.properties.talking,
        origin: memberOrigin,
        ...uncheckedFields,
      },
    ),
  ),
});
export type Times = t.TypeOf<typeof times>;
