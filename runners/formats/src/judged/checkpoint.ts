// checkpoint.json: the intermediate checkpoint of a submission at a share of the budget, and whether it can be
// loaded.

import * as t from "../schema.ts";
import { reasons } from "./admission.ts";

export const checkpoint = t.wholeFile("mlrb checkpoint", 1, {
  stood: t.kindsOf(
    t.about(t.variant("none"), "nothing had been submitted yet"),
    t.variant("snapshot", { name: t.text }),
    t.about(t.variant("final"), "the attempt had ended: its final submission"),
  ),
  admitted: t.flag,
  reasons,
});
export type Checkpoint = t.TypeOf<typeof checkpoint>;
