// Turns the axes of a pipeline into values: lists as they stand, and lists that a manifest of
// another axis holds (`scorer: { of: task }`). Unknown tasks, scorers and agents are found here.

import type { PipelineSpec, Scalar } from "@mlrb/formats/declared/pipeline";
import { axisField, type FieldValue, fieldValue } from "../spec/axis-field.ts";
import {
  folderPattern,
  isManifestKind,
  type ManifestKind,
  manifestFields,
  manifestNames,
  readManifest,
  type Sources,
} from "../spec/manifest.ts";
import type { Diagnostic, Place } from "../yaml/diagnostic.ts";
import { didYouMean, suggest } from "../yaml/suggest.ts";
import { TemplateProblem } from "../yaml/template.ts";
import type { Path, YamlSource } from "../yaml/yaml-source.ts";
import type { ResolvedProfile } from "./resolve-profile.ts";

export type Axis = {
  name: string;
  /** The axis whose value decides this one's values, if any. */
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

export function resolveAxes(
  spec: PipelineSpec,
  source: YamlSource,
  profile: ResolvedProfile,
  context: {
    sources: Sources;
    set: Selection;
    unclear: (...path: string[]) => boolean;
    /** False where a slip, told already, leaves open what the parameters are. */
    paramsKnown: boolean;
  },
): ResolvedAxes {
  const { sources, set, unclear, paramsKnown } = context;
  const resolved: ResolvedAxes = { axes: new Map(), manifests: new Map(), problems: [] };
  const { problems } = resolved;
  for (const axis of Object.keys(set)) {
    if (Object.hasOwn(profile.axes, axis)) continue;
    const message = `${spec.name} has no axis "${axis}"`;
    problems.push({ code: "unknown-axis", message, help: didYouMean(axis, Object.keys(profile.axes)) });
  }
  const used = JSON.stringify([spec.stages, profile.axes, profile.params]);
  const usesManifest = (axis: string): axis is ManifestKind =>
    isManifestKind(axis) &&
    (used.includes(`{${axis}.`) || used.includes(folderPattern(axis)) || used.includes(`"of":"${axis}"`));

  const read = (
    kind: ManifestKind,
    value: Scalar,
    place: Place | undefined,
  ): Record<string, unknown> | undefined => {
    const known = resolved.manifests.get(kind) ?? new Map<string, Record<string, unknown>>();
    resolved.manifests.set(kind, known);
    const name = String(value);
    const held = known.get(name);
    if (held) return held;
    const manifest = /^[a-z][a-z0-9-]*$/.test(name) ? readManifest(kind, name, sources) : undefined;
    if (manifest === undefined) {
      const names = manifestNames(kind, sources);
      problems.push({
        code: `unknown-${kind}`,
        message: `no ${kind} named "${name}"`,
        ...(place && { place }),
        help: `${didYouMean(name, names)} \`pnpm pipeline list ${kind}s\` shows all ${names.length}`,
      });
      return undefined;
    }
    if (Array.isArray(manifest)) {
      problems.push(...manifest);
      return undefined;
    }
    const fields = manifestFields(kind, manifest.value);
    known.set(name, fields);
    return fields;
  };

  for (const [name, { spec: axisSpec, path }] of Object.entries(profile.axes)) {
    if (!Array.isArray(axisSpec)) continue;
    const places = (index: number) => source.place([...path, index]);
    const wanted = Object.hasOwn(set, name) ? set[name] : undefined;
    const listed = usable(axisSpec, places, problems);
    const values = chosen(name, listed, wanted, problems);
    // what has no manifest is told once, here, and takes no part in what follows
    const indices = new Map(axisSpec.map((value, index) => [value, index]));
    const known = values.filter((value) => {
      if (!usesManifest(name)) return true;
      const index = indices.get(value);
      return read(name, value, index === undefined ? undefined : places(index));
    });
    resolved.axes.set(name, { name, values: known });
  }
  for (const [name, { spec: axisSpec, path }] of Object.entries(profile.axes)) {
    if (Array.isArray(axisSpec)) continue;
    const kind = axisSpec.of;
    const parent = resolved.axes.get(kind);
    if (unclear("axes", kind)) continue;
    if (!parent || parent.of !== undefined || !isManifestKind(kind)) {
      problems.push({
        code: "unknown-axis",
        message: `axis "${name}" takes its values of "${axisSpec.of}", which is not an axis with manifests and a list`,
        place: source.place([...path, "of"]),
        help: didYouMean(axisSpec.of, [...resolved.axes.keys()].filter(isManifestKind)),
      });
      continue;
    }
    const written: Path = axisSpec.field === undefined ? [...path, "of"] : [...path, "field"];
    const steps = stepsOf(name, axisSpec.field, written);
    if (!steps) continue;
    const valuesOf = new Map<Scalar, Scalar[]>();
    const all: string[] = [];
    for (const value of parent.values) {
      const manifest = resolved.manifests.get(kind)?.get(String(value));
      if (!manifest) continue;
      const file = readManifest(kind, String(value), sources);
      const places: Places = (...more) =>
        file && !Array.isArray(file) ? file.place([...steps, ...more]) : source.place(written);
      const found = fieldValue(manifest, steps);
      const listed = found.kind === "found" ? found.value : undefined;
      if (!isScalars(listed)) {
        problems.push({
          code: "unknown-field",
          message: `${kind} "${value}" has no list "${steps.join(".")}" of names`,
          // a part that is missing is missed in the manifest, all of it is misspelt in the pipeline
          place: found.kind === "missing" && found.depth === 0 ? source.place(written) : places(),
          ...fieldHelp(found, steps),
        });
        continue;
      }
      const values = usable(listed, places, problems);
      valuesOf.set(
        value,
        values.filter((item) => !Object.hasOwn(set, name) || set[name]!.includes(String(item))),
      );
      all.push(...values.map(String));
    }
    for (const wanted of Object.hasOwn(set, name) ? set[name]! : []) {
      if (all.includes(wanted) || all.length === 0) continue;
      const help = didYouMean(wanted, new Set(all));
      problems.push({ code: `unknown-${name}`, message: `no ${name} "${wanted}" here`, help });
    }
    const union = [...new Set([...valuesOf.values()].flat())];
    const known = union.filter(
      (value) => !usesManifest(name) || read(name, value, placeInManifest(kind, steps, value)),
    );
    for (const [value, items] of valuesOf)
      if (known.length < union.length)
        valuesOf.set(
          value,
          items.filter((item) => known.includes(item)),
        );
    resolved.axes.set(name, { name, of: kind, values: known, valuesOf });
  }
  return resolved;

  /** The steps to the list of an axis; undefined where that is not known. */
  function stepsOf(axis: string, field: string | undefined, path: Path): string[] | undefined {
    if (field?.includes("{") && !paramsKnown) return undefined;
    try {
      return axisField(axis, field, profile.params);
    } catch (error) {
      if (!(error instanceof TemplateProblem)) throw error;
      problems.push({
        code: "unknown-placeholder",
        message: `{${error.placeholder}}: ${error.message}`,
        place: source.placeOf(path, `{${error.placeholder}}`),
        ...(error.help && { help: error.help }),
      });
      return undefined;
    }
  }

  function placeInManifest(kind: ManifestKind, steps: string[], value: Scalar): Place | undefined {
    for (const [owner, manifest] of resolved.manifests.get(kind) ?? []) {
      const found = fieldValue(manifest, steps);
      const index = found.kind === "found" && Array.isArray(found.value) ? found.value.indexOf(value) : -1;
      const file = readManifest(kind, owner, sources);
      if (index >= 0 && file && !Array.isArray(file)) return file.place([...steps, index]);
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
  return part === undefined ? {} : { help: `a part of it does: field: "${[...steps, part].join(".")}"` };
}

type Places = (...steps: number[]) => Place;

function isScalars(value: unknown): value is Scalar[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string" || typeof item === "number");
}

/** What a value of an axis may be: it becomes part of names of instances, of `--only` patterns and of folders. */
const valuePattern = /^[\p{L}\p{N}_-][\p{L}\p{N}\p{M}_.%@:+~-]{0,99}$/u;
const valueHelp = "letters, digits and . _ - % @ : + ~, at most 100 of them, no sign but _ or - first";

/** The values that can be used; the others are problems. */
function usable(values: Scalar[], place: Places, problems: Diagnostic[]): Scalar[] {
  const seen = new Set<string>();
  return values.filter((value, index) => {
    const text = String(value);
    if (!valuePattern.test(text)) {
      const message = `"${text}" cannot be a value of an axis`;
      problems.push({ code: "bad-value", message, place: place(index), help: valueHelp });
      return false;
    }
    const twice = seen.has(text);
    seen.add(text);
    if (twice) {
      const message = `"${text}" stands twice in the list`;
      problems.push({ code: "duplicate", message, place: place(index), help: "remove one" });
    }
    return !twice;
  });
}

/** A `--set` may name any task, agent or scorer that exists, any whole number where the axis has numbers, else a listed value. */
function chosen(axis: string, listed: Scalar[], set: string[] | undefined, problems: Diagnostic[]): Scalar[] {
  if (!set) return listed;
  const numbers = listed.every((value) => typeof value === "number");
  const byText = new Map(listed.map((value) => [String(value), value]));
  return [...new Set(set)].flatMap((text): Scalar[] => {
    const same = byText.get(text);
    if (same !== undefined) return [same];
    if (isManifestKind(axis) && valuePattern.test(text)) return [text];
    // only the one way to write a number: 1 and 01 would be two instances of one name
    if (numbers && /^(0|-?[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text))) return [Number(text)];
    const message = `axis "${axis}" has no value "${text}"`;
    problems.push({ code: "unknown-value", message, help: didYouMean(text, listed.map(String)) });
    return [];
  });
}
