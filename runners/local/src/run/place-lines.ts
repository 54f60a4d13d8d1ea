// The journal's lines about where an instance runs, for an executor that queues or adopts.
import type { Instance } from "@mlrb/core/plan/plan";
import type { Journal } from "../journal/journal.ts";
import type { CarryOutContext } from "./carried-out.ts";
import type { RunOptions } from "./run-request.ts";

export function placeLines(
  instance: Instance,
  { journal, onEvent }: Pick<RunOptions, "onEvent"> & { journal: Journal },
): Pick<CarryOutContext, "adopted" | "submitted" | "placed"> {
  const stage = instance.id;
  return {
    adopted: (since, { resumed = false } = {}) => {
      journal.write({ event: "adopt", stage, since, ...(resumed && { resumed }) });
      onEvent({ kind: "adopted", instance, since, resumed });
    },
    submitted: () => journal.write({ event: "submitted", stage }),
    placed: (place, queuedMs) =>
      journal.write({ event: "placed", stage, ...place, ...(queuedMs !== undefined && { queuedMs }) }),
  };
}
