// times.json: what the attempts took, by their ledgers. Apart from the report, whose bytes must not depend on seconds.

import { uncheckedFields, uncheckedNames } from "./attempt/attempt-record.ts";
import { servedModel } from "./attempt/ledger.ts";
import { memberOrigin } from "./attempt/record-origin.ts";
import { interventionSums } from "./declared/intervention.ts";
import {
  anyText,
  fileFormat,
  listOf,
  number,
  numberOrNull,
  seed,
  type TypeOf,
  textOrNull,
  wholeExcept,
  wholeObject,
} from "./schema.ts";

export const times = fileFormat(
  "mlrb times",
  wholeObject({
    formatVersion: { const: 1 },
    label: anyText,
    attempts: listOf(
      wholeExcept(["reached", "served", "origin", ...uncheckedNames, "resumed", "interventions"], {
        task: anyText,
        agent: anyText,
        seed,
        wallSeconds: {
          ...numberOrNull,
          description: "by a monotonic clock; null where there is no ledger that can be read",
        },
        workingSeconds: numberOrNull,
        budgetSeconds: numberOrNull,
        ended: textOrNull,
        tokens: { ...numberOrNull, description: "unknown is null, never 0" },
        dollars: numberOrNull,
        resumed: {
          type: "integer",
          minimum: 1,
          description: "how often it continued after its supervisor or host died; absent if never",
        },
        interventions: interventionSums,
        gpuHours: numberOrNull,
        gpuBusyHours: { ...numberOrNull, description: "of those hours, in which they computed" },
        gpuMemoryPeakMiB: {
          ...numberOrNull,
          description: "the most memory in use on one of its GPUs; null: unknown",
        },
        firstValidSeconds: {
          ...numberOrNull,
          description: "to the first snapshot of a submission that can be loaded",
        },
        improvementPerHour: {
          ...numberOrNull,
          description: "of what the agent itself said, in the metric's unit; at least 0",
        },
        unusedShare: {
          ...numberOrNull,
          description: "of its budget of working time, 0 to 1; null: unknown",
        },
        sinceImprovementSeconds: {
          ...numberOrNull,
          description:
            "from the last improvement of the main metric of its iterations to its end; null: unknown",
        },
        bestSoFar: {
          ...listOf(wholeObject({ seconds: number, value: number })),
          description:
            "each improvement of the main metric of its iterations, the first value included; empty: unknown",
        },
        reached: {
          ...anyText,
          description:
            "what shows that its provider searched, fetched or ran a tool, though the attempt has no network; absent without it",
        },
        served: {
          ...listOf(servedModel),
          description: "which models answered its calls; absent without a call",
        },
        origin: memberOrigin,
        ...uncheckedFields,
      }),
    ),
  }),
);
export type Times = TypeOf<typeof times>;
