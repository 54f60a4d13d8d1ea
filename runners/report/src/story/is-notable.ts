// Whether an extract of a trajectory shows an event: changes, failures and findings, not output.
import type { TrajectoryLine } from "../exports/attempt-source.ts";

export function isNotable(line: TrajectoryLine): boolean {
  if (line.kind !== "event") return true;
  const { event } = line;
  switch (event.event) {
    case "output":
    case "output-clipped":
    case "tool-call":
    case "model-request":
    case "request-part":
      return false;
    case "model-call":
      return event.finish === "refusal" || event.finish === "length";
    case "tool-result":
      return event.outcome !== "done";
    case "message":
      return event.why !== "prompt";
    default:
      return true;
  }
}
