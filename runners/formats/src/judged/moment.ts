// moment.json: the intermediate checkpoint of a submission at a share of the budget, and whether it can be loaded.

import * as t from "../schema.ts";
import { reasons } from "./admission.ts";

export const moment = t.fileFormat(
  "mlrb moment",
  t.wholeObject({
    formatVersion: { const: 1 },
    stood: t.kindsOf(
      t.about(t.wholeObject({ kind: { const: "none" } }), "nothing had been submitted yet"),
      t.wholeObject({ kind: { const: "snapshot" }, name: t.text }),
      t.about(t.wholeObject({ kind: { const: "final" } }), "the attempt had ended: its final submission"),
    ),
    admitted: t.flag,
    reasons,
  }),
);
export type Moment = t.TypeOf<typeof moment>;
