// moment.json: the submission as it stood at a share of the budget, and whether it may be loaded.

import { fileFormat, flag, kindsOf, type TypeOf, text, wholeObject } from "../schema.ts";
import { reasons } from "./admission.ts";

export const moment = fileFormat(
  "mlrb moment",
  wholeObject({
    formatVersion: { const: 1 },
    stood: kindsOf(
      {},
      [],
      [
        { ...wholeObject({ kind: { const: "none" } }), description: "nothing had been put there yet" },
        wholeObject({ kind: { const: "snapshot" }, name: text }),
        {
          ...wholeObject({ kind: { const: "final" } }),
          description: "the attempt had ended: what it submitted",
        },
      ],
    ),
    admitted: flag,
    reasons,
  }),
);
export type Moment = TypeOf<typeof moment>;
