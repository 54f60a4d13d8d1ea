// Decides the rules on given models by identity.json: whole tensors of the loaded model, compared by the stage
// `identity` (ADR 43). A tensor that the model does not load is not there, so it decides nothing.
import type { Identity, Mixture, TensorIdentity } from "@mlrb/formats/judged/identity";
import { clip } from "../admission/clip.ts";
import { type Finding, failed, open, passed } from "./rule-method.ts";

type Relation = TensorIdentity["relations"][number];

/** Smaller matrices are similar by chance, and vectors are mostly norms, near one in every model. */
const sizeMin = 1024;
/** Cosines from which a tensor is a version of the given one, and under which it is not. Measured in ADR 43. */
const versionMin = 0.8;
const strangerMax = 0.3;
/** Of a relation that is never enough for a version. */
const openMax = (versionMin + strangerMax) / 2;
/** Rows that were chosen among the given ones make another model. Training moves few rows so far that another is nearer. */
const repeatedMax = 0.1;
/** The least share of the second model in a mixture. */
const mixtureMin = 0.05;

/**
 * At least half of the values in matrices are versions of those of `names`. A new vocabulary can have more values
 * than all else, so without the two largest other matrices half is enough for undecided.
 */
export function decideBase({ given, tensors }: Identity, names: string[]): Finding {
  const telling = tensors.filter(isTelling);
  const values = sum(telling);
  const best = (tensor: TensorIdentity) => closeness(tensor, names);
  const versions = telling.filter((tensor) => best(tensor) >= versionMin);
  const partial = telling.filter(
    (tensor) =>
      !versions.includes(tensor) &&
      (best(tensor) >= strangerMax || !tensor.finite || names.some((name) => isOpen(tensor, name, given))),
  );
  const evidence = `${versions.length} of ${telling.length} matrices that the model loads, with ${percent(sum(versions), values)} of their values, are versions of those of ${names.join(" or ")}`;
  if (sum(versions) * 2 >= values && values > 0) return passed(evidence);
  if ((sum(versions) + sum(partial)) * 2 >= values)
    return open(`${evidence}; ${partial.length} are related only in part, or cannot be compared`);
  const largest = telling
    .filter((tensor) => !versions.includes(tensor))
    .sort((a, b) => volume(b.shape) - volume(a.shape))
    .slice(0, 2);
  if (sum(versions) * 2 >= values - sum(largest) && versions.length > 0)
    return open(
      `${evidence}; ${largest.map(({ name }) => clip(name)).join(" and ")} may be a new vocabulary`,
    );
  return failed(evidence);
}

/** The share of the values in matrices that are versions of those of each given model; models without any are left out. */
export function givenShares({ given, tensors }: Identity): { model: string; share: number }[] {
  const telling = tensors.filter(isTelling);
  return given.flatMap(({ model }) => {
    const versions = telling.filter((tensor) => closeness(tensor, [model]) >= versionMin);
    return versions.length === 0 ? [] : [{ model, share: sum(versions) / sum(telling) }];
  });
}

/** Known models of which more than one matrix, or a copy of one, was recognised; relatives of a model among them. */
export function knownRelatives({ known }: Identity): string[] {
  return known.filter(({ matches }) => isSure(matches)).map(({ model }) => model);
}

/** How near the tensor is to the nearest one of these models, 0 to 1. */
function closeness(tensor: TensorIdentity, names: string[]): number {
  return Math.max(0, ...of(tensor, names).map(strength));
}

/** Whether any tensor differs from the given model of this name beyond rounding, or a part of that model is missing. */
export function decideChanged({ given, tensors }: Identity, names: string[]): Finding {
  for (const name of names) {
    const same = tensors.filter((tensor) =>
      of(tensor, [name]).some(
        ({ tensor: other, values, repeated }) =>
          other === tensor.name && values === "equal" && repeated === 0,
      ),
    );
    const all = given.find(({ model }) => model === name)?.values ?? Number.POSITIVE_INFINITY;
    if (same.length === tensors.length && sum(tensors) >= all)
      return failed(`all ${same.length} tensors that the model loads are those of ${name}, unchanged`);
  }
  return passed(`it is none of ${names.join(", ")}`);
}

/** Made of the given model's values without holding them: a compression that may hide training. */
const derivedBy: Relation["by"][] = ["map", "rank", "near-rank", "mixture"];

/** Every tensor holds values of the given model only: unchanged, zero, or with rows or columns removed. */
export function decideCompressed({ given, tensors }: Identity, name: string): Finding {
  const relation = (tensor: TensorIdentity) => of(tensor, [name])[0];
  const held = tensors.filter((tensor) => {
    const found = relation(tensor);
    return found !== undefined && found.values !== "other" && found.by !== "rank";
  });
  const repeated = held.filter((tensor) => relation(tensor)!.repeated > 0);
  const kept = held.filter((tensor) => !repeated.includes(tensor));
  const mapped = tensors.filter(
    (tensor) =>
      !held.includes(tensor) &&
      (derivedBy.includes(relation(tensor)?.by ?? "place") || isOpen(tensor, name, given)),
  );
  // a norm that was folded into the next matrix is constant, and a vector of another length holds few values
  const small =
    mapped.length > 0 || held.length > 0 ? tensors.filter((one) => isSmall(one, relation(one))) : [];
  const foreign = tensors.filter((tensor) => ![held, mapped, small].some((list) => list.includes(tensor)));
  const looked = tensors.length;
  if (foreign.length > 0)
    return failed(
      `${foreign.length} of ${looked} tensors that the model loads hold values that ${name} does not, e.g. ${clip(foreign[0]!.name)}`,
    );
  const rest = looked - kept.length;
  if (rest > 0 || looked === 0) {
    const reasons = [
      `${mapped.length} have the hidden dimension mapped, fewer directions or a mixture of layers, or lack too much to show how, which may hide training`,
      `${repeated.length} hold rows or columns of ${name} twice, too few values of them, or new rows`,
      `${rest - mapped.length - repeated.length} are too small to tell`,
    ];
    return open(`of ${looked} tensors ${reasons.join("; ")}`);
  }
  return passed(
    `all ${looked} tensors that the model loads are those of ${name}, unchanged, with zeros, or with rows or columns removed`,
  );
}

/** Every tensor is a mixture of the models, and the second model has a share of at least 5 %. */
export function decideMixture({ tensors, mixtures }: Identity, names: string[]): Finding {
  const found = mixtures.find(({ models }) => models.join("\n") === names.join("\n"));
  if (!found) return open("no mixture of these models was fitted");
  const unexplained = found.tensors.filter((one) => one.residual > one.allowed && one.outside > 0);
  const of = `${tensors.length} tensors that the model loads`;
  if (unexplained.length > 0)
    return failed(
      `${unexplained.length} of ${of} are no mixture of ${names.join(", ")}, e.g. ${clip(unexplained[0]!.name)}`,
    );
  const strange = tensors.length - found.tensors.length;
  if (strange > 0 || tensors.length === 0)
    return open(`${strange} of ${of} have a name or shape that the models lack`);
  const { first, share } = shares(found);
  const evidence = `all ${of} are mixtures of ${names.join(", ")}`;
  if (share < mixtureMin)
    return failed(
      `${evidence}, but all models other than ${first} have less than ${100 * mixtureMin} % of the weight`,
    );
  return passed(evidence);
}

/** A copy at every place has this correlation, whatever small changes followed. */
const copyMin = 0.9;

/** No sign of the known models. One weak match may be chance, two are not. */
export function decideScratch({ tensors, known }: Identity): Finding {
  if (known.length === 0) return open("there are no fingerprints of known weights");
  const looked = known[0]!.looked;
  const matches = known
    .flatMap(({ model, matches }) => matches.map((one) => ({ model, ...one })))
    .sort((a, b) => b.likeness - a.likeness);
  const first = matches[0];
  if (first) {
    // relatives among the known models match the same matrix
    const found = new Set(matches.map(({ tensor }) => tensor)).size;
    const sure = isSure(matches);
    const by = first.by === "places" ? "correlation" : "likeness of singular values and norms";
    return {
      answer: sure ? "fail" : "undecided",
      evidence: `${found} of ${looked} matrices are like those of a published model, e.g. ${clip(first.tensor)} is like ${first.known} of ${first.model} (${by} ${first.likeness.toFixed(2)})`,
    };
  }
  const unreadable = tensors.filter(({ finite }) => !finite).length;
  if (unreadable > 0 || looked === 0)
    return open(`${looked} matrices can be compared; ${unreadable} tensors hold too few numbers`);
  // an absence of matches shows little: only these few models were looked for
  const models = known.map(({ model }) => model).join(", ");
  const count = known.length === 1 ? "1 known model" : `${known.length} known models`;
  return passed(`no sign of the ${count} (${models}) in ${looked} matrices`);
}

function isSure(matches: Identity["known"][number]["matches"]): boolean {
  if (new Set(matches.map(({ tensor }) => tensor)).size > 1) return true;
  return matches.some(({ by, likeness }) => by === "places" && likeness >= copyMin);
}

/** The model with the largest weight, and the share of the second in the sizes of all weights. */
function shares({ models, weights }: Mixture): { first: string; share: number } {
  const order = models
    .map((name, at) => ({ name, size: Math.abs(weights[at]!) }))
    .sort((a, b) => b.size - a.size);
  const all = order.reduce((total, { size }) => total + size, 0);
  return { first: order[0]!.name, share: (order[1]?.size ?? 0) / all };
}

/** Zeros and lower rank keep values or directions of the model, whatever the cosine. */
function strength({ by, values, cosine, repeated }: Relation): number {
  const size = Math.abs(cosine);
  if (repeated > repeatedMax) return Math.min(size, openMax);
  return (values !== "other" && size > 0) || by === "rank" || by === "mixture"
    ? Math.max(size, versionMin)
    : size;
}

/** Whether nothing relates the tensor to this model, and so many parts of the model are gone that nothing could. */
function isOpen(tensor: TensorIdentity, name: string, given: Identity["given"]): boolean {
  const unmapped = given.some((one) => one.model === name && one.unmapped);
  return unmapped && of(tensor, [name]).every((found) => strength(found) < strangerMax);
}

function isTelling({ shape }: TensorIdentity): boolean {
  return shape.length >= 2 && volume(shape) >= sizeMin;
}

function isSmall(tensor: TensorIdentity, relation: Relation | undefined): boolean {
  return !isTelling(tensor) && (tensor.constant || relation === undefined);
}

function of({ relations }: TensorIdentity, names: string[]): Relation[] {
  return relations.filter(({ model }) => names.includes(model));
}

function sum(tensors: TensorIdentity[]): number {
  return tensors.reduce((total, { shape }) => total + volume(shape), 0);
}

function volume(shape: number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

function percent(part: number, whole: number): string {
  return `${whole > 0 ? Math.floor((100 * part) / whole) : 0} %`;
}
