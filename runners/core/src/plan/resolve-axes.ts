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

type Resolving = AxesRequest &
  ResolvedAxes & {
    /** The files of `manifests`. */
    files: Map<ManifestKind, Map<string, YamlSource>>;
    /** The text in which a pipeline can use manifests. */
    text: string;
  };

export function resolveAxes(spec: PipelineSpec, request: AxesRequest): ResolvedAxes {
  const { profile, set } = request;
  const state: Resolving = {
    ...request,
    axes: new Map(),
    manifests: new Map(),
    problems: [],
    files: new Map(),
    text: JSON.stringify([spec.stages, profile.axes, profile.params]),
  };
  for (const axis of Object.keys(set)) {
    if (Object.hasOwn(profile.axes, axis)) continue;
    const message = `${spec.name} has no axis "${axis}"`;
    state.problems.push({ code: "unknown-axis", message, help: didYouMean(axis, Object.keys(profile.axes)) });
  }
  const axes = Object.entries(profile.axes);
  for (const [name, { spec: axis, path }] of axes)
    if (Array.isArray(axis)) resolveListed(state, name, { listed: axis, path });
  for (const [name, { spec: axis, path }] of axes)
    if (!Array.isArray(axis)) resolveDependent(state, name, { axis, path });
  const { axes: resolved, manifests, problems } = state;
  return { axes: resolved, manifests, problems };
}

function resolveListed(
  state: Resolving,
  name: string,
  { listed, path }: { listed: Scalar[]; path: Path },
): void {
  const { source, problems } = state;
  const places = (index: number) => source.place([...path, index]);
  const values = chosen(name, usable(listed, places, problems), chosenBySet(state, name), problems);
  const indices = new Map(listed.map((value, index) => [value, index]));
  // a value without a manifest is reported once, here, and left out of what follows
  const known = values.filter((value) => {
    const index = indices.get(value);
    return hasManifest(state, name, {
      value,
      place: () => (index === undefined ? undefined : places(index)),
    });
  });
  state.axes.set(name, { name, values: known });
}

type DependentAxis = Exclude<AxisSpec, readonly unknown[]>;

function resolveDependent(
  state: Resolving,
  name: string,
  { axis, path }: { axis: DependentAxis; path: Path },
): void {
  const { source, axes, problems } = state;
  const kind = axis.of;
  if (state.unclear("axes", kind)) return;
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
  const written: Path = [...path, axis.field === undefined ? "of" : "field"];
  const steps = stepsOf(state, name, { field: axis.field, path: written });
  if (!steps) return;
  const set = chosenBySet(state, name);
  const valuesOf = new Map<Scalar, Scalar[]>();
  const all = new Set<string>();
  for (const value of parent.values) {
    const listed = listedBy(state, String(value), { kind, steps, written });
    for (const item of listed ?? []) all.add(String(item));
    if (listed)
      valuesOf.set(
        value,
        listed.filter((item) => set?.includes(String(item)) ?? true),
      );
  }
  for (const wanted of set ?? []) {
    if (all.has(wanted) || all.size === 0) continue;
    const message = `no ${name} "${wanted}" here`;
    problems.push({ code: `unknown-${name}`, message, help: didYouMean(wanted, all) });
  }
  const union = [...new Set([...valuesOf.values()].flat())];
  const known = union.filter((value) =>
    hasManifest(state, name, { value, place: () => placeInManifest(state, value, { kind, steps }) }),
  );
  for (const [value, items] of valuesOf)
    valuesOf.set(
      value,
      items.filter((item) => known.includes(item)),
    );
  axes.set(name, { name, of: kind, values: known, valuesOf });
}

function chosenBySet({ set }: Resolving, axis: string): string[] | undefined {
  return Object.hasOwn(set, axis) ? set[axis] : undefined;
}

/** Whether a value can be used: its manifest is there, or the pipeline uses no manifest of this axis. */
function hasManifest(
  state: Resolving,
  axis: string,
  { value, place }: { value: Scalar; place: () => Place | undefined },
): boolean {
  const { text } = state;
  const isUsed =
    isManifestKind(axis) &&
    [`{${axis}.`, folderPattern(axis), `"of":"${axis}"`].some((part) => text.includes(part));
  return !isUsed || load(state, axis, { name: String(value), place });
}

/** Reads a manifest into `state`. False, with a diagnostic, where there is none that can be used. */
function load(
  { sources, manifests, files, problems }: Resolving,
  kind: ManifestKind,
  { name, place }: { name: string; place: () => Place | undefined },
): boolean {
  if (manifests.get(kind)?.has(name)) return true;
  const known = manifests.get(kind) ?? new Map<string, Record<string, unknown>>();
  manifests.set(kind, known);
  const manifest = /^[a-z][a-z0-9-]*(@.+)?$/.test(name) ? readManifest(kind, name, sources) : undefined;
  if (manifest === undefined) {
    const names = manifestNames(kind, sources);
    const at = place();
    problems.push({
      code: `unknown-${kind}`,
      message: `no ${kind} named "${name}"`,
      ...(at && { place: at }),
      help: didYouMeanIn(name, names, `pnpm pipeline list ${kind}s`),
    });
    return false;
  }
  if (Array.isArray(manifest)) {
    const at = place();
    problems.push(...manifest.map((problem) => ({ ...(at && { place: at }), ...problem })));
    return false;
  }
  const unusable = unplannable(kind, manifest);
  if (unusable) {
    problems.push(unusable);
    return false;
  }
  known.set(name, manifestFields(kind, manifest.value, sources));
  files.set(kind, (files.get(kind) ?? new Map()).set(name, manifest));
  return true;
}

type ListPlace = { kind: ManifestKind; steps: string[] };

/** The usable values that a manifest lists; undefined, perhaps with a diagnostic, where it lists none. */
function listedBy(
  { source, manifests, files, problems }: Resolving,
  name: string,
  { kind, steps, written }: ListPlace & { written: Path },
): Scalar[] | undefined {
  const manifest = manifests.get(kind)?.get(name);
  const file = files.get(kind)?.get(name);
  if (!manifest || !file) return undefined;
  const places: Places = (...index) => file.place([...steps, ...index]);
  const found = fieldValue(manifest, steps);
  if (found.kind === "found" && isScalars(found.value)) return usable(found.value, places, problems);
  // an optional field that is left out lists nothing
  if (found.kind === "missing" && found.depth === 0 && manifestFieldNames(kind).includes(steps[0]!))
    return [];
  problems.push({
    code: "unknown-field",
    message: `${kind} "${name}" has no list "${steps.join(".")}" of names`,
    // a missing part is a gap of the manifest, a missing whole a slip in the pipeline
    place: found.kind === "missing" && found.depth === 0 ? source.place(written) : places(),
    ...fieldHelp(found, steps),
  });
  return undefined;
}

/** The steps to the list of an axis; undefined where they are not known. */
function stepsOf(
  { profile, source, paramsKnown, problems }: Resolving,
  axis: string,
  { field, path }: { field: string | undefined; path: Path },
): string[] | undefined {
  if (field?.includes("{") && !paramsKnown) return undefined;
  try {
    return axisField(axis, field, profile.params);
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error;
    problems.push(placeholderProblem(error, source, { path }));
    return undefined;
  }
}

function placeInManifest(
  { manifests, files }: Resolving,
  value: Scalar,
  { kind, steps }: ListPlace,
): Place | undefined {
  for (const [owner, manifest] of manifests.get(kind) ?? []) {
    const found = fieldValue(manifest, steps);
    const index = found.kind === "found" && Array.isArray(found.value) ? found.value.indexOf(value) : -1;
    if (index >= 0)
      return files
        .get(kind)!
        .get(owner)!
        .place([...steps, index]);
  }
  return undefined;
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
