// What a graph's parts look like, in every format alike. Colour is never the only sign: a node says its state
// and what it is in words, a private artifact is named so.

import type { InstanceState } from "../show/instance-state.ts";
import type { GraphEdge } from "./graph.ts";

/** Dark text is read easily on each of them. */
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

/** A name as one line: an axis' value may hold anything. */
export function plainLabel(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
}
