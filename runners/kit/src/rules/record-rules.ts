// Rules about the record of the attempt, or about the agent's own declarations.

import { join } from "node:path";
import { isTable } from "@mlrb/formats/is-table";
import { type JsonFileLimits, readJsonFile } from "../admission/admission-files.ts";
import { clip } from "../admission/clip.ts";
import { readingLimits } from "../admission/reading-limits.ts";
import { type Finding, type RuleMethod, takesNothing, takesTexts } from "./rule-method.ts";

export const timeWithinBudget: RuleMethod = {
  problem: takesNothing,
  decide({ ledger, budgetMs }) {
    if (typeof ledger === "string") return { answer: "undecided", evidence: ledger };
    // stopping takes the supervisor a moment, which is tolerated
    const patienceMs = Math.max(5000, budgetMs / 100);
    // waits for a GPU or a rate limit are not work
    if (ledger.workingMs > budgetMs + patienceMs)
      return {
        answer: "fail",
        evidence: `the ledger counts ${ledger.workingMs} ms of work; ${budgetMs} ms were allowed`,
      };
    if (ledger.ended === "time-limit")
      return { answer: "pass", evidence: "stopped at the time limit; the submission at that time counts" };
    return { answer: "pass", evidence: "ended within the time limit" };
  },
};

const provenanceLimits: JsonFileLimits = {
  bytes: readingLimits.provenanceBytes,
  values: readingLimits.provenanceValues,
};

/**
 * A declaration can only count against the agent: a missing or unreadable one shows no broken rule, and a false one is as
 * easily written as none. So both leave the question open.
 */
export const provenanceData: RuleMethod = {
  problem: (given) => takesTexts("allowed", given),
  decide({ folder }, given) {
    const names = declaredData(folder);
    if (!Array.isArray(names)) return names;
    const allowed = given.allowed as string[];
    const others = [...new Set(names.filter((name) => !allowed.includes(name)))].sort();
    if (others.length > 0)
      return {
        answer: "fail",
        evidence: `${stated} other data: ${shown(others)}; allowed: ${allowed.join(", ")}`,
      };
    if (names.length === 0) return open("provenance.json declares no data at all");
    return {
      answer: "pass",
      evidence: `${stated} only ${[...new Set(names)].sort().join(", ")}`,
    };
  },
};

/** Fails if the declared data has the name of forbidden training data, in any spelling. */
export const notTrainedOn: RuleMethod = {
  problem: (given) => takesTexts("names", given),
  decide({ folder }, given) {
    const names = declaredData(folder);
    if (!Array.isArray(names)) return names;
    const banned = given.names as string[];
    const found = names.filter((name) => banned.some((one) => bare(name).includes(bare(one))));
    if (found.length > 0)
      return {
        answer: "fail",
        evidence: `${stated} ${shown(found)}; not to be trained on: ${banned.join(", ")}`,
      };
    if (names.length === 0) return open("provenance.json declares no data at all");
    return { answer: "pass", evidence: `${stated} none of ${banned.join(", ")}` };
  },
};

/**
 * Fails if the name of the declared base model contains no approved family. The match is loose (`opt` is in `optimised`), so
 * that errors let a submission pass.
 */
export const provenanceBase: RuleMethod = {
  problem: (given) => takesTexts("families", given),
  decide({ folder }, given) {
    const declared = readProvenance(folder);
    if (typeof declared === "string") return open(declared);
    const base = isTable(declared.base) ? declared.base.name : declared.base;
    if (typeof base !== "string" || bare(base) === "") return open("provenance.json names no `base`");
    const family = (given.families as string[]).find((one) => bare(base).includes(bare(one)));
    if (family !== undefined)
      return { answer: "pass", evidence: `${stated} the base ${clip(base)}, by its name ${family}` };
    return {
      answer: "fail",
      evidence: `${stated} the base ${clip(base)}, whose name is of no approved family`,
    };
  },
};

/** Begins the evidence that rests on provenance.json, which the agent writes itself. */
const stated = "stated by the agent, not verified:";

const open = (evidence: string): Finding => ({ answer: "undecided", evidence });

/** Letters and digits only: `cais/MMLU` and `mmlu_pro` both contain `mmlu`. */
function bare(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

function shown(names: string[]): string {
  const first = names
    .slice(0, 5)
    .map((name) => clip(name))
    .join(", ");
  return names.length > 5 ? `${first} and ${names.length - 5} more` : first;
}

/** A string is the problem of the file. */
function readProvenance(folder: string): Record<string, unknown> | string {
  const read = readJsonFile(join(folder, "provenance.json"), provenanceLimits);
  if (read.kind === "malformed") return `provenance.json: ${read.reason}`;
  return isTable(read.value) ? read.value : "provenance.json is not a table";
}

/** The names of the training data, or why they are unknown. */
function declaredData(folder: string): string[] | Finding {
  const declared = readProvenance(folder);
  if (typeof declared === "string") return open(declared);
  return dataNames(declared.data) ?? open("provenance.json does not list `data` by name");
}

/** `data` as a list of names or of objects with a name; undefined if it is neither. */
function dataNames(data: unknown): string[] | undefined {
  if (typeof data === "string") return [data];
  if (!Array.isArray(data)) return undefined;
  const names = data.map((item) => (isTable(item) ? item.name : item));
  return names.every((name) => typeof name === "string") ? (names as string[]) : undefined;
}
