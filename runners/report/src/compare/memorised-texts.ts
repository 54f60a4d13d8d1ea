// Whether a model has probably memorised a task's private texts: it predicts them better than matched public
// texts, by more than the reference does. A note for people; no number changes (ADR 48).

import { exactInterval } from "@mlrb/core/statistics/exact-interval";
import { itemColumns } from "@mlrb/core/statistics/items";
import { ratioEstimate } from "@mlrb/core/statistics/ratio-estimate";
import type {
  MemorisationDocument,
  MemorisationFile,
  MemorisationModel,
} from "@mlrb/formats/judged/memorisation";
import type { Reading } from "@mlrb/formats/read-format";
import type { AttemptMemorisation, ReportMemorisation } from "@mlrb/formats/report/memorisation";
import { canonicalJson } from "@mlrb/kit/json-file";

const standardErrorsMin = 5;

type Reference = { name: string; models: MemorisationModel[]; documents: MemorisationDocument[] };
/** Of a task: its reference, that it scores no private documents, or why neither is known. */
export type TaskReference = { kind: "no-private-documents" } | Reading<Reference>;
type Comparison = Exclude<AttemptMemorisation, { kind: "no-private-documents" }>;

/** From the file of the task's reference models. */
export function taskReference(found: Reading<MemorisationFile>): TaskReference {
  if (found.kind !== "ok") return found;
  const { privateDocuments, reference, models } = found.value;
  if (!privateDocuments) return { kind: "no-private-documents" };
  const model = models.find(({ name }) => name === reference);
  if (model?.kind !== "measured")
    return {
      kind: "unreadable",
      cause: model ? `the reference is rejected: ${model.reason}` : "no reference",
    };
  return { kind: "ok", value: { name: model.name, models, documents: model.documents } };
}

/** Of the submission in `found`. */
export function attemptMemorisation(
  found: Reading<MemorisationFile>,
  reference: TaskReference,
): AttemptMemorisation {
  if (found.kind !== "ok") return { kind: "not-measured", cause: found.cause };
  if (!found.value.privateDocuments) return { kind: "no-private-documents" };
  const [model] = found.value.models;
  if (!model) return { kind: "not-measured", cause: "its file has no model" };
  if (reference.kind === "ok") return comparison(model, reference.value.documents);
  const cause = reference.kind === "unreadable" ? reference.cause : "no reference";
  return { kind: "not-measured", cause: `reference models: ${cause}` };
}

/**
 * The reference models themselves, by task; none of them saw a private text, so a note is a false alarm. Tasks
 * with the same texts can have equal models: these are one observation.
 */
export function falseAlarms(references: Map<string, TaskReference>): ReportMemorisation {
  const tasks = [...references].flatMap(([task, reference]) => {
    if (reference.kind !== "ok") return [];
    const { name, models, documents } = reference.value;
    const compared = models
      .filter((model) => model.name !== name)
      .map((model) => ({ name: model.name, ...comparison(model, documents) }));
    return [{ task, reference: name, models: compared }];
  });
  const compared = tasks.flatMap(({ reference, models }) =>
    models.flatMap((model) => (model.kind === "compared" ? [{ ...model, reference }] : [])),
  );
  const distinct = [...new Map(compared.map((model) => [canonicalJson(model), model])).values()];
  const noted = distinct.filter((model) => model.noted).length;
  const upper = distinct.length === 0 ? null : exactInterval(noted, distinct.length)[1];
  return { tasks, falseAlarms: { noted, models: distinct.length, upper } };
}

function comparison(model: MemorisationModel, reference: MemorisationDocument[]): Comparison {
  if (model.kind === "rejected") return { kind: "not-measured", cause: model.reason };
  const found = differenceOf(model.documents, reference);
  if (found === undefined)
    return { kind: "not-measured", cause: "it and the reference have too few common documents" };
  const noted = found.difference < -standardErrorsMin * found.standardError;
  return { kind: "compared", ...found, noted };
}

/**
 * Bits per byte, (private − public) of `model` minus the same of `reference`: the mean over sources, with its
 * standard error over documents. Sources are fixed, so the squares of their errors add. Undefined unless both have
 * the same documents, and each source two of each side.
 */
function differenceOf(
  model: MemorisationDocument[],
  reference: MemorisationDocument[],
): { difference: number; standardError: number } | undefined {
  const keyOf = ({ side, id, source, bytes }: MemorisationDocument) =>
    JSON.stringify([side, id, source, bytes]);
  const bitsOf = new Map(reference.map((document) => [keyOf(document), document.bits]));
  const pairs = model.flatMap((document) => {
    const bits = bitsOf.get(keyOf(document));
    return bits === undefined ? [] : [{ ...document, bits: document.bits - bits }];
  });
  if (pairs.length !== model.length || bitsOf.size !== model.length || pairs.length === 0) return undefined;
  const bySource = [...Map.groupBy(pairs, ({ source }) => source).values()];
  const found = bySource.map((own) => {
    const [here, there] = (["private", "public"] as const).map((side) =>
      ratioEstimate(
        itemColumns(
          own
            .filter((document) => document.side === side)
            .map(({ id, bits, bytes }) => ({ id, value: bits, weight: bytes })),
        ),
      ),
    );
    if (here?.standardError === undefined || there?.standardError === undefined) return undefined;
    return { value: here.value - there.value, error: Math.hypot(here.standardError, there.standardError) };
  });
  const known = found.filter((source) => source !== undefined);
  if (known.length !== found.length) return undefined;
  return {
    difference: known.reduce((sum, { value }) => sum + value, 0) / known.length,
    standardError: Math.hypot(...known.map(({ error }) => error)) / known.length,
  };
}
