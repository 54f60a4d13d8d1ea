// What is said of events that are neither begin nor end of a stage: lines that stay.
import { unreachable } from "@mlrb/core/ports/outcome";
import { formatDuration } from "@mlrb/core/text/units";
import { ownerWords } from "@mlrb/local/leases/owner";
import type { RunEvent } from "@mlrb/local/run/run-request";

export type RareEvent = Extract<
  RunEvent,
  { kind: "taken-over" | "adopted" | "undeclared" | "retried" | "gpu-left-out" }
>;

export function eventLines(event: RareEvent): string[] {
  const { id } = event.instance;
  switch (event.kind) {
    case "taken-over":
      return [`took    ${id}  from ${ownerWords(event.owner)}, silent for ${formatDuration(event.silentMs)}`];
    case "adopted":
      return [
        `goes on ${id}  (begun ${event.since ? `${event.since} ` : ""}by a run that is gone)`,
        ...(event.underCap
          ? []
          : [
              `warning: ${id} was begun by an older mlrb without --max-cost and cannot be put under this run's: only its own budget limits it`,
            ]),
      ];
    case "undeclared":
      return [`undeclared: ${event.what}, so no key holds it; ${event.help}`];
    case "retried":
      return [`again   ${id}  (${event.detail}${event.remade ? "; it is made anew" : ""})`];
    case "gpu-left-out":
      return [`left out GPU ${event.gpu.index} (${event.gpu.uuid}): ${event.why}`];
    default:
      return unreachable(event);
  }
}
