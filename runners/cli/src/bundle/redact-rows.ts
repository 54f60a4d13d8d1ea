// Replaces what names a private row in samples by its digest. The report only compares these names, so its numbers stay
// the same, and whoever has the rows can find each one.
import { sha256Of } from "./archive-layout.ts";

/** Samples, one JSON object a line. A line that is none is replaced whole. */
export function withoutRowIds(samples: string): string {
  return samples
    .split("\n")
    .map((line) => (line === "" ? "" : withoutIds(line)))
    .join("\n");
}

function withoutIds(line: string): string {
  let fields: unknown;
  try {
    fields = JSON.parse(line);
  } catch {
    return `unreadable ${nameOf(line)}`;
  }
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
