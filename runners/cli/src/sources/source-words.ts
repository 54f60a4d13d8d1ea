// Words about sources that several commands print.
import { sourceBytes } from "@mlrb/core/spec/source-bytes";
import type { LockState } from "@mlrb/core/spec/source-lock";
import { formatBytes } from "@mlrb/core/text/units";
import type { LockedSource } from "@mlrb/formats/declared/source-lock";
import { oneLine } from "../show/print.ts";
import type { DeclaredSource } from "./declared-sources.ts";
import { publicHub } from "./hub-client.ts";

/** Of the page with its licence and, if it is gated, its terms. */
export function pageOf({ repository, type }: Pick<LockedSource, "repository" | "type">): string {
  const hub = (process.env.HF_ENDPOINT || publicHub).replace(/\/+$/, "");
  return `${hub}/${type === "dataset" ? "datasets/" : ""}${repository}`;
}

export function bytesWords({ manifest, state }: Pick<DeclaredSource, "manifest" | "state">): string {
  const bytes = sourceBytes(manifest, state);
  if (bytes === undefined) return "size unknown";
  return state.kind === "resolved" ? formatBytes(bytes) : `about ${formatBytes(bytes)}`;
}

export function stateWords(state: LockState): string {
  switch (state.kind) {
    case "unresolved":
      return "unresolved";
    case "outdated":
      return `outdated: ${state.cause}`;
    default:
      return state.entry.revision.slice(0, 12);
  }
}

/** Hubs write licences and names as they like. */
export function licenceWords({ manifest, state }: Pick<DeclaredSource, "manifest" | "state">): string {
  if (state.kind !== "resolved") return manifest.seen?.licence ?? "licence unknown";
  const { licence, gated } = state.entry;
  return `${licence === null ? "no licence named" : oneLine(licence)}${gatedWords(gated)}`;
}

function gatedWords(gated: LockedSource["gated"]): string {
  switch (gated) {
    case "none":
      return "";
    case "auto":
      return ", gated: accept its terms on the hub";
    default:
      return ", gated: its owners grant access on the hub";
  }
}
