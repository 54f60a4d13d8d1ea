// Turns the axes of a pipeline into values: listed ones, and those that a manifest of another axis lists
// (`scorer: { of: task }`). Reports unknown tasks, scorers and agents.

import type { AxisSpec, PipelineSpec, Scalar } from "@mlrb/formats/declared/pipeline";
import { axisField, type FieldValue, fieldValue } from "../spec/axis-field.ts";
import {
  folderPattern,
  isManifestKind,
  type ManifestKind,
  manifestFieldNames,
  manifestFields,
  manifestNames,
  readManifest,
  type Sources,
  unplannable,
} from "../spec/manifest.ts";
import type { Diagnostic, Place } from "../yaml/diagnostic.ts";
import { didYouMean, didYouMeanIn, suggest } from "../yaml/suggest.ts";
import { placeholderProblem, TemplateProblem } from "../yaml/template.ts";
import type { Path, YamlSource } from "../yaml/yaml-source.ts";
import { chosen, isScalars, type Places, usable } from "./axis-values.ts";
import type { ResolvedProfile } from "./resolve-profile.ts";

export type Axis = {
  name: string;
  /** The axis on whose value the values of this one depend, if any. */
  of?: string;
  /** All values; for a dependent axis the union, in order of first mention. */
  values: Scalar[];
  /** For a dependent axis: the values for each value of `of`. */
  valuesOf?: Map<Scalar, Scalar[]>;
};

export type ResolvedAxes = {
  axes: Map<string, Axis>;
  /** Manifests by kind and name, for those axes whose manifests the pipeline uses. */
  manifests: Map<ManifestKind, Map<string, Record<string, unknown>>>;
  problems: Diagnostic[];
};

/** Values chosen with `--set`, by axis. */
export type Selection = Record<string, string[]>;

type AxesRequest = {
  source: YamlSource;
  profile: ResolvedProfile;
  sources: Sources;
  set: Selection;
  unclear: (...path: string[]) => boolean;
  /** False where a reported problem leaves the parameters unknown. */
  paramsKnown: boolean;
};

type DependentAxis = Exclude<AxisSpec, readonly unknown[]>;

/** A list of values in manifests: the kind of these, the steps to it, and the list where a manifest has none. */
type ListPlace = { kind: ManifestKind; steps: string[]; otherwise?: Scalar[] | undefined };

export function resolveAxes(spec: PipelineSpec, request: AxesRequest): ResolvedAxes {
  const { profile, set } = request;
  const resolver = new AxisResolver(request, JSON.stringify([spec.stages, profile.axes, profile.params]));
  const { axes, manifests, problems } = resolver;
  for (const axis of Object.keys(set)) {
    if (Object.hasOwn(profile.axes, axis)) continue;
    const message = `${spec.name} has no axis "${axis}"`;
    problems.push({ code: "unknown-axis", message, help: didYouMean(axis, Object.keys(profile.axes)) });
  }
  const declared = Object.entries(profile.axes);
  for (const [name, { spec: axis, path }] of declared)
    if (Array.isArray(axis)) resolver.addListed(name, axis, path);
    else if (axis.default && Object.hasOwn(set, name))
      resolver.addListed(name, axis.default, [...path, "default"]);
  for (const [name, { spec: axis, path }] of declared)
    if (!Array.isArray(axis) && !axes.has(name)) resolver.addDependent(name, axis, path);
  return { axes, manifests, problems };
}

class AxisResolver implements ResolvedAxes {
  readonly axes: ResolvedAxes["axes"] = new Map();
  readonly manifests: ResolvedAxes["manifests"] = new Map();
  readonly problems: Diagnostic[] = [];
  /** The files of `manifests`. */
  readonly #files = new Map<ManifestKind, Map<string, YamlSource>>();
  readonly #request: AxesRequest;
  readonly #text: string;

  /** `text`: the text in which a pipeline can use manifests. */
  constructor(request: AxesRequest, text: string) {
    this.#request = request;
    this.#text = text;
  }

  addListed(name: string, listed: Scalar[], path: Path): void {
    const { problems } = this;
    const places = (index: number) => this.#request.source.place([...path, index]);
    const values = chosen(name, usable(listed, places, problems), this.#chosenBySet(name), problems);
    const indices = new Map(listed.map((value, index) => [value, index]));
    // a value without a manifest is reported once, here, and left out of what follows
    const known = values.filter((value) => {
      const index = indices.get(value);
      return this.#hasManifest(name, value, () => (index === undefined ? undefined : places(index)));
    });
    this.axes.set(name, { name, values: known });
  }

  addDependent(name: string, { of: kind, field, default: unlisted }: DependentAxis, path: Path): void {
    const { axes, problems } = this;
    const { source, unclear } = this.#request;
    if (unclear("axes", kind)) return;
    const parent = axes.get(kind);
    if (!parent || parent.of !== undefined || !isManifestKind(kind)) {
      problems.push({
        code: "unknown-axis",
        message: `axis "${name}" takes its values from "${kind}", which is not a listed axis with manifests`,
        place: source.place([...path, "of"]),
        help: didYouMean(kind, [...axes.keys()].filter(isManifestKind)),
      });
      return;
    }
    const written: Path = [...path, field === undefined ? "of" : "field"];
    const steps = this.#stepsOf(name, field, written);
    if (!steps) return;
    const set = this.#chosenBySet(name);
    const places: Places = (...index) => source.place([...path, "default", ...index]);
    const otherwise = unlisted && usable(unlisted, places, problems);
    const valuesOf = new Map<Scalar, Scalar[]>();
    const all = new Set<string>();
    for (const value of parent.values) {
      const listed = this.#listedBy(String(value), { kind, steps, otherwise }, written);
      if (!listed) continue;
      for (const item of listed) all.add(String(item));
      const kept = listed.filter((item) => set?.includes(String(item)) ?? true);
      valuesOf.set(value, kept);
    }
    for (const wanted of set ?? []) {
      if (all.has(wanted) || all.size === 0) continue;
      const message = `no ${name} "${wanted}" here`;
      problems.push({ code: `unknown-${name}`, message, help: didYouMean(wanted, all) });
    }
    const union = [...new Set([...valuesOf.values()].flat())];
    const known = union.filter((value) =>
      this.#hasManifest(name, value, () => this.#placeInManifest(value, { kind, steps })),
    );
    for (const [value, items] of valuesOf) {
      const kept = items.filter((item) => known.includes(item));
      valuesOf.set(value, kept);
    }
    axes.set(name, { name, of: kind, values: known, valuesOf });
  }

  #chosenBySet(axis: string): string[] | undefined {
    const { set } = this.#request;
    return Object.hasOwn(set, axis) ? set[axis] : undefined;
  }

  /** Whether a value can be used: its manifest is there, or the pipeline uses no manifest of this axis. */
  #hasManifest(axis: string, value: Scalar, place: () => Place | undefined): boolean {
    const isUsed =
      isManifestKind(axis) &&
      [`{${axis}.`, folderPattern(axis), `"of":"${axis}"`].some((part) => this.#text.includes(part));
    return !isUsed || this.#load(axis, String(value), place);
  }

  /** Reads a manifest. False, with a diagnostic, where there is none that can be used. */
  #load(kind: ManifestKind, name: string, place: () => Place | undefined): boolean {
    const { problems } = this;
    const { sources } = this.#request;
    const known = this.manifests.getOrInsertComputed(kind, () => new Map());
    if (known.has(name)) return true;
    const manifest = /^[a-z][a-z0-9-]*([@+].+)?$/.test(name) ? readManifest(kind, name, sources) : undefined;
    if (manifest && !Array.isArray(manifest)) {
      const unusable = unplannable(kind, manifest);
      if (unusable) {
        problems.push(unusable);
        return false;
      }
      known.set(name, manifestFields(kind, manifest.value, sources));
      this.#files.getOrInsertComputed(kind, () => new Map()).set(name, manifest);
      return true;
    }
    const at = place();
    const placed = { ...(at && { place: at }) };
    if (manifest) problems.push(...manifest.map((problem) => ({ ...placed, ...problem })));
    else
      problems.push({
        code: `unknown-${kind}`,
        message: `no ${kind} named "${name}"`,
        ...placed,
        help: didYouMeanIn(name, manifestNames(kind, sources), `pnpm pipeline list ${kind}s`),
      });
    return false;
  }

  /** The usable values that a manifest lists; undefined, perhaps with a diagnostic, where it lists none. */
  #listedBy(name: string, { kind, steps, otherwise }: ListPlace, written: Path): Scalar[] | undefined {
    const manifest = this.manifests.get(kind)?.get(name);
    const file = this.#files.get(kind)?.get(name);
    if (!manifest || !file) return undefined;
    const places: Places = (...index) => file.place([...steps, ...index]);
    const found = fieldValue(manifest, steps);
    if (found.kind === "found" && isScalars(found.value)) return usable(found.value, places, this.problems);
    const isKnown = manifestFieldNames(kind).includes(steps[0]!);
    if (found.kind === "missing" && isKnown && otherwise) return otherwise;
    const isWholeMissing = found.kind === "missing" && found.depth === 0;
    // an optional field that is left out lists nothing
    if (isWholeMissing && isKnown) return [];
    this.problems.push({
      code: "unknown-field",
      message: `${kind} "${name}" has no list "${steps.join(".")}" of names`,
      // a missing part is a gap of the manifest, a missing whole a slip in the pipeline
      place: isWholeMissing ? this.#request.source.place(written) : places(),
      ...fieldHelp(found, steps),
    });
    return undefined;
  }

  /** The steps to the list of an axis; undefined where they are not known. */
  #stepsOf(axis: string, field: string | undefined, path: Path): string[] | undefined {
    const { profile, source, paramsKnown } = this.#request;
    if (field?.includes("{") && !paramsKnown) return undefined;
    try {
      return axisField(axis, field, profile.params);
    } catch (error) {
      if (!(error instanceof TemplateProblem)) throw error;
      this.problems.push(placeholderProblem(error, source, { path }));
      return undefined;
    }
  }

  #placeInManifest(value: Scalar, { kind, steps }: ListPlace): Place | undefined {
    for (const [owner, manifest] of this.manifests.get(kind) ?? []) {
      const found = fieldValue(manifest, steps);
      const index = found.kind === "found" && Array.isArray(found.value) ? found.value.indexOf(value) : -1;
      const file = this.#files.get(kind)!.get(owner)!;
      if (index >= 0) return file.place([...steps, index]);
    }
    return undefined;
  }
}

/** The way out where a field lists no names: the name that was meant, or a part of the field that does. */
function fieldHelp(found: FieldValue, steps: string[]): { help?: string } {
  if (found.kind === "missing") {
    const step = steps[found.depth]!;
    const near = found.depth > 0 || suggest(step, found.known) !== undefined;
    return near ? { help: didYouMean(step, found.known) } : {};
  }
  if (found.value === null || typeof found.value !== "object" || Array.isArray(found.value)) return {};
  const part = Object.entries(found.value).find(([, value]) => isScalars(value))?.[0];
  return part === undefined
    ? {}
    : { help: `name a part that is a list: field: "${[...steps, part].join(".")}"` };
}
