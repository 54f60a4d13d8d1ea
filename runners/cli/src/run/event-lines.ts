// The lines for events other than the start and the end of a stage.
import { unreachable } from "@mlrb/core/ports/outcome";
import { formatDuration } from "@mlrb/core/text/units";
import { ownerWords } from "@mlrb/local/leases/owner";
import type { RunEvent } from "@mlrb/local/run/run-request";

export type RareEvent = Extract<
  RunEvent,
  { kind: "serving" | "taken-over" | "adopted" | "undeclared" | "retried" | "gpu-left-out" }
>;

export function eventLines(event: RareEvent): string[] {
  const { id } = event.instance;
  switch (event.kind) {
    case "serving":
      return [`serves  ${id}  (at ${event.url})`];
    case "taken-over":
      return [
        `took over ${id}  from ${ownerWords(event.owner)}, silent for ${formatDuration(event.silentMs)}`,
      ];
    case "adopted":
      return [
        event.resumed
          ? `resumed ${id}  (started ${event.since}; its supervisor or host had died)`
          : `adopted ${id}  (started ${event.since ? `${event.since} ` : ""}by a run that has ended)`,
      ];
    case "undeclared":
      return [`undeclared: ${event.what}, so no key holds it; ${event.help}`];
    case "retried":
      return [`retry   ${id}  (${event.detail}${event.remade ? "; it is made again" : ""})`];
    case "gpu-left-out":
      return [`not used: GPU ${event.gpu.index} (${event.gpu.uuid}): ${event.why}`];
    default:
      return unreachable(event);
  }
}
