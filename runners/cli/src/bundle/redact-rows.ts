// Replaces in a bundle's texts what must not leave the machine besides keys: names of private rows and folders.
// The report only compares names of rows, so with digests its numbers stay the same, and whoever has the rows can
// find each.
import { ifReadable } from "@mlrb/local/store/if-readable";
import { sha256Of } from "./bag.ts";

/** Samples, one JSON object a line. A line that is none is replaced whole. */
export function withoutRowIds(samples: string): string {
  return samples
    .split("\n")
    .map((line) => (line === "" ? "" : withoutIds(line)))
    .join("\n");
}

function withoutIds(line: string): string {
  const fields: unknown = ifReadable(() => JSON.parse(line));
  if (fields === undefined) return `unreadable ${nameOf(line)}`;
  const { id, group, cluster, value, weight } = Object(fields) as Record<string, unknown>;
  return JSON.stringify({
    ...(typeof id === "string" && { id: nameOf(id) }),
    ...(typeof group === "string" && { group: nameOf(group) }),
    ...(typeof cluster === "string" && { cluster: nameOf(cluster) }),
    ...(typeof value === "number" && { value }),
    ...(typeof weight === "number" && { weight }),
  });
}

/** 96 bits: millions of rows have different names. */
function nameOf(text: string): string {
  return sha256Of(text).slice(0, 24);
}

/** A state folder that moved after a run wrote its journal is no folder of the machine now. */
const stateFolder = /(?<![^"\s(])\/[^"\\\s]*\/\.mlrb(?=\/)/g;

/** Journals without the places of state folders. */
export function withoutStateFolders(text: string): string {
  return text.replace(stateFolder, "STATE");
}
