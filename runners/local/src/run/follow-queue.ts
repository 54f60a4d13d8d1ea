// The time that an instance spends in the queue of a scheduler.
import type { Running } from "@mlrb/core/ports/executor";
import { formatDuration } from "@mlrb/core/text/units";
import type { CarryOutContext } from "./carried-out.ts";

type Queue = { queuedMs?: number; beganAt?: Date; words?: { queued: string } };

/** Fills in what is known of the time in a scheduler's queue, once the instance begins on a node. */
export function followQueue(
  { began }: Running,
  { submitted, placed, isAdopted }: Pick<CarryOutContext, "submitted" | "placed"> & { isAdopted: boolean },
): Queue {
  const queue: Queue = {};
  if (!began) return queue;
  const submitMs = performance.now();
  submitted();
  void began.then((place) => {
    queue.beganAt = new Date();
    if (!isAdopted) {
      queue.queuedMs = Math.round(performance.now() - submitMs);
      queue.words = { queued: formatDuration(queue.queuedMs) };
    }
    placed(place, queue.queuedMs);
  });
  return queue;
}
