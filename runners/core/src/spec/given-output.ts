// Reads the declaration of an output: the short form (`file`, `dir`) or a table.
import type { GivesSpec } from "@mlrb/formats/declared/pipeline";
import type { PlannedOutput } from "../plan/plan.ts";

export function givenOutput(name: string, gives: GivesSpec): PlannedOutput {
  if (typeof gives === "string")
    return { name, file: name, kind: gives === "dir" ? "dir" : "file", private: false };
  const file = typeof gives.file === "string" ? gives.file : name;
  const kind = gives.file ? "file" : "dir";
  return { name, file, kind, private: gives.private ?? false, ...(gives.added && { added: true }) };
}

export function isDeclaredPrivate(gives: GivesSpec | undefined): boolean {
  return typeof gives === "object" && gives.private === true;
}
