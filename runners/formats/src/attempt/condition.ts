// The condition of an attempt: what its programs could reach. Attempts of two conditions are two experiments, so
// no mean and no comparison holds both.
import type { Network } from "../declared/pipeline.ts";
import * as t from "../schema.ts";

export const condition = t.about(
  t.oneOf("open", "sealed", "no-network"),
  "what the programs of the attempt could reach: open: a network; sealed: only the download gateway; absent: unknown",
);
export type Condition = t.TypeOf<typeof condition>;

/** The condition of an attempt whose stage has this network. */
export function conditionOf(network: Network | undefined): Condition {
  switch (network) {
    case "full":
      return "open";
    case "hub":
      return "sealed";
    default:
      return "no-network";
  }
}
