// Whether the attempt in a folder is a branch, by its card.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { attemptCard } from "@mlrb/formats/attempt/attempt-card";
import { readFormat } from "@mlrb/formats/read-format";
import type { Branch } from "@mlrb/formats/stage/branch";

/** Undefined for any other attempt. Throws where the card cannot be read. */
export function attemptBranch(folder: string): Branch | undefined {
  const reading = readFormat(attemptCard, readFileSync(join(folder, "attempt.json"), "utf8"));
  if (reading.kind === "unreadable") throw new Error(`attempt.json cannot be used: ${reading.cause}`);
  return reading.value.parts.branch;
}
