// The look of a graph in every format. Colour is never the only sign: a node also names its state, and a private
// artifact is marked in words.

import type { InstanceState } from "../show/instance-state.ts";
import type { GraphEdge } from "./graph.ts";

/** Light enough for dark text. */
export const stateColours: Record<InstanceState, string> = {
  upToDate: "#d9f2d9",
  running: "#cfe4ff",
  failed: "#f8d0d0",
  stale: "#ffe3a8",
  uncertain: "#fff6d8",
  neverRun: "#eeeeee",
};

export const privateColour = "#b00020";

export function edgeLabel({ outputs, private: isPrivate }: GraphEdge): string {
  const said = outputs.every((name) => name === "private");
  return `${outputs.join(", ")}${isPrivate && !said ? " (private)" : ""}`;
}
