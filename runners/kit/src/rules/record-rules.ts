// Rules about the record of the attempt, or about the agent's own declarations.

import { join } from "node:path";
import { isTable } from "@mlrb/formats/is-table";
import { type JsonFileLimits, readJsonFile } from "../admission/admission-files.ts";
import { clip } from "../admission/clip.ts";
import { readingLimits } from "../admission/reading-limits.ts";
import type { RecordedRepository } from "../attempts/recorded-downloads.ts";
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
  decide({ folder, downloads }, given) {
    const names = declaredData(folder);
    const allowed = given.allowed as string[];
    if (downloads) return dataByRecord(downloads, allowed, Array.isArray(names) ? names : []);
    if (!Array.isArray(names)) return names;
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
  decide({ folder, downloads }, given) {
    const declared = declaredData(folder);
    if (!downloads && !Array.isArray(declared)) return declared;
    const names = Array.isArray(declared) ? declared : [];
    const banned = given.names as string[];
    const found = names.filter((name) => banned.some((one) => bare(name).includes(bare(one))));
    if (found.length > 0)
      return {
        answer: "fail",
        evidence: `${stated} ${shown(found)}; not to be trained on: ${banned.join(", ")}`,
      };
    if (downloads) return { answer: "pass", evidence: `${recorded} no row of the scored data was served` };
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
  decide({ folder, downloads }, given) {
    const models = downloads?.filter(({ weights }) => weights);
    if (models && models.length > 0) return basesByRecord(models, given.families as string[]);
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

/**
 * Fails unless every model of which weights entered has at most `parametersMax` parameters and was published before
 * `publishedBefore`. Only the record of a sealed attempt can say so.
 */
export const expertsPermitted: RuleMethod = {
  problem({ parametersMax, publishedBefore, ...others }) {
    const counts = Number.isSafeInteger(parametersMax) && (parametersMax as number) > 0;
    const dated = typeof publishedBefore === "string" && /^\d{4}-\d\d-\d\d$/.test(publishedBefore);
    if (counts && dated && Object.keys(others).length === 0) return undefined;
    return `takes { parametersMax: whole number, publishedBefore: "YYYY-MM-DD" }, got ${JSON.stringify({ parametersMax, publishedBefore, ...others })}`;
  },
  decide({ downloads }, given) {
    if (!downloads) return open("which models the agent used is on record in the sealed condition only");
    const models = downloads.filter(({ weights }) => weights);
    if (models.length === 0) return { answer: "pass", evidence: `${recorded} no model entered` };
    const { parametersMax, publishedBefore } = given as { parametersMax: number; publishedBefore: string };
    const large = models.filter(({ parameters = 0 }) => parameters > parametersMax);
    if (large.length > 0)
      return {
        answer: "fail",
        evidence: `${recorded} over ${parametersMax} parameters: ${shown(large.map(({ id }) => id))}`,
      };
    const late = models.filter(({ createdAt = "" }) => createdAt >= publishedBefore);
    if (late.length > 0)
      return {
        answer: "fail",
        evidence: `${recorded} not published before ${publishedBefore}: ${shown(late.map(({ id }) => id))}`,
      };
    const unknown = models.filter(
      ({ parameters, createdAt }) => parameters === undefined || createdAt === undefined,
    );
    if (unknown.length > 0)
      return open(`the hub names no size or no date of ${shown(unknown.map(({ id }) => id))}`);
    return { answer: "pass", evidence: `${recorded} ${shown(models.map(({ id }) => id))}` };
  },
};

/** By name, as the hub has it now: a derived model whose name lacks its family's fails. */
function basesByRecord(models: RecordedRepository[], families: string[]): Finding {
  const other = models.filter(({ id }) => !families.some((one) => bare(id).includes(bare(one))));
  if (other.length > 0)
    return {
      answer: "fail",
      evidence: `${recorded} weights of no approved family, by name: ${shown(other.map(({ id }) => id))}`,
    };
  return { answer: "pass", evidence: `${recorded} weights of ${shown(models.map(({ id }) => id))}` };
}

/** What entered counts as used. A model may carry what it was trained on, so its weights count as data too. */
function dataByRecord(downloads: RecordedRepository[], allowed: string[], declared: string[]): Finding {
  const permitted = new Set(allowed.map((name) => name.toLowerCase()));
  const entered = downloads.filter(({ from, weights }) => from === "dataset" || weights).map(({ id }) => id);
  const others = entered.filter((id) => !permitted.has(id.toLowerCase()));
  if (others.length > 0)
    return {
      answer: "fail",
      evidence: `${recorded} other data or models: ${shown(others)}; allowed: ${allowed.join(", ")}`,
    };
  const admitted = declared.filter((name) => !permitted.has(name.toLowerCase()));
  if (admitted.length > 0)
    return {
      answer: "fail",
      evidence: `${stated} other data: ${shown(admitted)}; allowed: ${allowed.join(", ")}`,
    };
  const what = entered.length === 0 ? "no data entered besides what was given" : `only ${shown(entered)}`;
  return { answer: "pass", evidence: `${recorded} ${what}` };
}

/** Begins the evidence that rests on what the download gateway recorded. */
const recorded = "recorded by the download gateway:";

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
