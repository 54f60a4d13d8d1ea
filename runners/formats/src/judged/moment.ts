// moment.json: the intermediate checkpoint of a submission at a share of the budget, and whether it can be loaded.

import { fileFormat, flag, kindsOf, type TypeOf, text, wholeObject } from "../schema.ts";
import { reasons } from "./admission.ts";

export const moment = fileFormat(
  "mlrb moment",
  wholeObject({
    formatVersion: { const: 1 },
    stood: kindsOf(
      { ...wholeObject({ kind: { const: "none" } }), description: "nothing had been submitted yet" },
      wholeObject({ kind: { const: "snapshot" }, name: text }),
      {
        ...wholeObject({ kind: { const: "final" } }),
        description: "the attempt had ended: its final submission",
      },
    ),
    admitted: flag,
    reasons,
  }),
);
export type Moment = TypeOf<typeof moment>;
