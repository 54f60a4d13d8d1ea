// Rules about the record of the attempt, or about the agent's own declarations.

import { join } from "node:path";
import { isTable } from "@mlrb/formats/is-table";
import { type JsonFileLimits, readJsonFile } from "../admission/admission-files.ts";
import { clip } from "../admission/clip.ts";
import { readingLimits } from "../admission/reading-limits.ts";
import { type ModelFile, type RecordedRepository, textBytesMax } from "../attempts/recorded-downloads.ts";
import {
  type Finding,
  failed,
  open,
  passed,
  type RuleMethod,
  takesNothing,
  takesTexts,
} from "./rule-method.ts";

export const timeWithinBudget: RuleMethod = {
  problem: takesNothing,
  decide({ ledger, budgetMs }) {
    if (typeof ledger === "string") return open(ledger);
    // stopping takes the supervisor a moment, which is tolerated
    const patienceMs = Math.max(5000, budgetMs / 100);
    const allowedMs = budgetMs + (ledger.interventions?.addedMs ?? 0);
    // waits for a GPU or a rate limit are not work
    if (ledger.workingMs > allowedMs + patienceMs)
      return failed(`the ledger counts ${ledger.workingMs} ms of work; ${allowedMs} ms were allowed`);
    if (ledger.ended === "time-limit")
      return passed("stopped at the time limit; the submission at that time counts");
    return passed("ended within the time limit");
  },
};

const provenanceLimits: JsonFileLimits = {
  bytes: readingLimits.provenanceBytes,
  values: readingLimits.provenanceValues,
};

/**
 * A declaration can only count against the agent: a missing or unreadable one shows no broken rule, and a false
 * one is as easily written as none. So both leave the question open.
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
      return failed(`${stated} other data: ${shown(others)}; allowed: ${allowed.join(", ")}`);
    if (names.length === 0) return open("provenance.json declares no data at all");
    return passed(`${stated} only ${[...new Set(names)].sort().join(", ")}`);
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
      return failed(`${stated} ${shown(found)}; not to be trained on: ${banned.join(", ")}`);
    if (downloads) return passed(`${recorded} no row of the scored data was served`);
    if (names.length === 0) return open("provenance.json declares no data at all");
    return passed(`${stated} none of ${banned.join(", ")}`);
  },
};

/**
 * Fails if the name of the declared base model contains no approved family. The match is loose (`opt` is in
 * `optimised`), so that errors let a submission pass.
 */
export const provenanceBase: RuleMethod = {
  problem: (given) => takesTexts("families", given),
  decide({ folder, downloads }, given) {
    const families = given.families as string[];
    const models = downloads?.filter(({ weights }) => weights) ?? [];
    const found = models.length > 0 ? basesByRecord(models, families) : baseByDeclaration(folder, families);
    return unlessLarge(found, downloads ?? []);
  },
};

function baseByDeclaration(folder: string, families: string[]): Finding {
  const declared = readProvenance(folder);
  if (typeof declared === "string") return open(declared);
  const base = isTable(declared.base) ? declared.base.name : declared.base;
  if (typeof base !== "string" || bare(base) === "") return open("provenance.json names no `base`");
  const family = families.find((one) => bare(base).includes(bare(one)));
  if (family !== undefined) return passed(`${stated} the base ${clip(base)}, by its name ${family}`);
  return failed(`${stated} the base ${clip(base)}, whose name is of no approved family`);
}

/**
 * Fails if a model of which weights entered has more than `parametersMax` parameters, or if its repository was
 * made, or its weights were committed, on or after `publishedBefore`. Where a fact is missing, or files do not fit
 * the model, the question is open.
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
    const permitted = given as { parametersMax: number; publishedBefore: string };
    const notPermitted = models.flatMap((model) => whyNotPermitted(model, permitted));
    if (notPermitted.length > 0) return failed(`${recorded} ${shown(notPermitted)}`);
    const unclear = models.flatMap((model) => whyUnclear(model, permitted));
    if (unclear.length > 0) return open(`${recorded} ${shown(unclear)}`);
    const what =
      models.length === 0
        ? "no model entered"
        : `${shown(models.map(({ id }) => id))}, committed before ${permitted.publishedBefore}`;
    return unlessLarge(passed(`${recorded} ${what}`), downloads);
  },
};

type Permitted = { parametersMax: number; publishedBefore: string };

function whyNotPermitted(
  { id, parameters = 0, createdAt = "", files = [] }: RecordedRepository,
  { parametersMax, publishedBefore }: Permitted,
): string[] {
  if (parameters > parametersMax) return [`${id} has over ${parametersMax} parameters`];
  const dates = [
    createdAt,
    ...files.map(({ kind, changedAt = "" }) => (kind === "weights" ? changedAt : "")),
  ];
  return dates.some((date) => date >= publishedBefore)
    ? [`${id} was not published before ${publishedBefore}`]
    : [];
}

/** Three copies in F32. A repository may hold its weights in several formats. */
const bytesPerParameterMax = 12;

function whyUnclear(
  { id, parameters, createdAt, files = [] }: RecordedRepository,
  { publishedBefore }: Permitted,
): string[] {
  if (parameters === undefined || createdAt === undefined)
    return [`the hub names no size or no date of ${id}`];
  const bytesOf = (kept: ModelFile[]) => kept.reduce((sum, { bytes }) => sum + bytes, 0);
  const texts = files.filter(({ kind }) => kind === "text");
  const counted = bytesOf(texts) > textBytesMax ? files : files.filter((file) => !texts.includes(file));
  if (counted.length === 0 || counted.some(({ changedAt }) => changedAt === undefined))
    return [`the hub names no date of files of ${id}`];
  if (counted.some(({ changedAt }) => changedAt! >= publishedBefore))
    return [`files of ${id} that may be no weights were committed on or after ${publishedBefore}`];
  const bytes = bytesOf(files.filter(({ kind }) => kind === "weights"));
  return bytes > bytesPerParameterMax * parameters && bytes > textBytesMax
    ? [`${id} has ${bytes} bytes of weights, more than its ${parameters} parameters explain`]
    : [];
}

/** By name without the owner. An agent may also use a model for something else, e.g. to filter its data. */
function basesByRecord(models: RecordedRepository[], families: string[]): Finding {
  const named = models.map(({ id }) => ({ id, name: id.slice(id.indexOf("/") + 1) }));
  const others = named.filter(({ name }) => !families.some((family) => hasPart(name, family)));
  const ids = shown(others.map(({ id }) => id));
  if (others.length === 0) return passed(`${recorded} weights of ${shown(models.map(({ id }) => id))}`);
  if (others.length < models.length)
    return open(`${recorded} approved models, and weights of no approved family, by name: ${ids}`);
  const near = others.some(({ name }) => families.some((family) => bare(name).includes(bare(family))));
  if (near) return open(`${recorded} weights whose names contain an approved family in another word: ${ids}`);
  return failed(`${recorded} weights of no approved family, by name: ${ids}`);
}

/** Whether the words and numbers of `part` follow each other in `name`: `GPT-2` in `gpt2-xl`, not in `gpt-2.7b`. */
function hasPart(name: string, part: string): boolean {
  const words = (text: string) =>
    ` ${
      text
        .toLowerCase()
        .match(/\p{L}+|\d+(?:\.\d+)*/gu)
        ?.join(" ") ?? ""
    } `;
  return words(name).includes(words(part));
}

/** A pass stays open where something entered that may hold weights or data. */
function unlessLarge(found: Finding, downloads: RecordedRepository[]): Finding {
  const large = downloads.filter((one) => one.large);
  if (found.answer !== "pass" || large.length === 0) return found;
  const names = shown(large.map(({ from, id }) => `${from} ${id}`));
  return open(`${recorded} so large that weights or data may be inside: ${names}`);
}

/** What entered counts as used. A model may carry what it was trained on, so its weights count as data too. */
function dataByRecord(downloads: RecordedRepository[], allowed: string[], declared: string[]): Finding {
  const permitted = new Set(allowed.map((name) => name.toLowerCase()));
  const entered = downloads.filter(({ from, weights }) => from === "dataset" || weights).map(({ id }) => id);
  const others = entered.filter((id) => !permitted.has(id.toLowerCase()));
  if (others.length > 0)
    return failed(`${recorded} other data or models: ${shown(others)}; allowed: ${allowed.join(", ")}`);
  const admitted = declared.filter((name) => !permitted.has(name.toLowerCase()));
  if (admitted.length > 0)
    return failed(`${stated} other data: ${shown(admitted)}; allowed: ${allowed.join(", ")}`);
  const what = entered.length === 0 ? "no data entered besides what was given" : `only ${shown(entered)}`;
  const unknown = downloads.filter(({ id }) => !permitted.has(id.toLowerCase()));
  return unlessLarge(passed(`${recorded} ${what}`), unknown);
}

/** Begins the evidence that rests on what the download gateway recorded. */
const recorded = "recorded by the download gateway:";

/** Begins the evidence that rests on provenance.json, which the agent writes itself. */
const stated = "stated by the agent, not verified:";

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
export function readProvenance(folder: string): Record<string, unknown> | string {
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
export function dataNames(data: unknown): string[] | undefined {
  if (typeof data === "string") return [data];
  if (!Array.isArray(data)) return undefined;
  const names = data.map((item) => (isTable(item) ? item.name : item));
  return names.every((name) => typeof name === "string") ? (names as string[]) : undefined;
}
