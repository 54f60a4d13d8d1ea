// Rules that are decided by the record of the attempt, or by what the agent says of its work.
import { join } from "node:path";
import { readJsonFile } from "../admission-files.ts";
import { clip, isObject } from "../admission-json.ts";
import { type Finding, type RuleMethod, takesNothing, takesTexts } from "./rule-method.ts";

export const timeWithinBudget: RuleMethod = {
  problem: takesNothing,
  decide({ ledger, budgetMs }) {
    if (typeof ledger === "string") return { answer: "cannot-tell", evidence: ledger };
    // stopping takes the supervisor a moment; what counts is that it did
    const patienceMs = Math.max(5000, budgetMs / 100);
    if (ledger.wallMs > budgetMs + patienceMs)
      return {
        answer: "fail",
        evidence: `the ledger counts ${ledger.wallMs} ms; ${budgetMs} ms were allowed`,
      };
    if (ledger.ended === "time-limit")
      return { answer: "pass", evidence: "stopped at the time limit; what lay there then counts" };
    return { answer: "pass", evidence: "ended within the time limit" };
  },
};

const provenanceMax = 1 << 20;

/**
 * What the agent declares can only convict it: a missing or unreadable declaration shows no broken
 * rule, and a false one is as easily written as none. So both leave the question open.
 */
export const provenanceData: RuleMethod = {
  problem: (given) => takesTexts("allowed", given),
  decide({ folder }, given) {
    const open = (evidence: string): Finding => ({ answer: "cannot-tell", evidence });
    const read = readJsonFile(join(folder, "provenance.json"), provenanceMax);
    if (read.kind === "malformed") return open(`provenance.json: ${read.reason}`);
    const names = isObject(read.value) ? dataNames(read.value.data) : undefined;
    if (!names) return open("provenance.json does not list `data` by name");
    const allowed = given.allowed as string[];
    const others = [...new Set(names.filter((name) => !allowed.includes(name)))].sort();
    if (others.length > 0) {
      const shown = others
        .slice(0, 5)
        .map((name) => clip(name))
        .join(", ");
      const more = others.length > 5 ? ` and ${others.length - 5} more` : "";
      return {
        answer: "fail",
        evidence: `declares other data: ${shown}${more}; allowed: ${allowed.join(", ")}`,
      };
    }
    if (names.length === 0) return open("provenance.json declares no data at all");
    return {
      answer: "pass",
      evidence: `declares only ${[...new Set(names)].sort().join(", ")}; nobody checked it`,
    };
  },
};

/** `data` as a list of names or of objects with a name; undefined when it is neither. */
function dataNames(data: unknown): string[] | undefined {
  if (typeof data === "string") return [data];
  if (!Array.isArray(data)) return undefined;
  const names = data.map((item) => (isObject(item) ? item.name : item));
  return names.every((name) => typeof name === "string") ? (names as string[]) : undefined;
}
