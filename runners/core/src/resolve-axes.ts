// Turns the axes of a pipeline into values: lists as they stand, and lists that a manifest of
// another axis holds (`scorer: { of: task }`). Unknown tasks, scorers and agents are found here.
import type { Diagnostic, Place } from "./diagnostic.ts";
import {
  folderPattern,
  isManifestKind,
  type ManifestKind,
  manifestNames,
  readManifest,
  type Sources,
} from "./manifest.ts";
import type { PipelineSpec, Scalar } from "./pipeline-spec.ts";
import type { ResolvedProfile } from "./resolve-profile.ts";
import { didYouMean } from "./suggest.ts";
import type { YamlSource } from "./yaml-source.ts";

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
  context: { sources: Sources; set: Selection },
): ResolvedAxes {
  const { sources, set } = context;
  const resolved: ResolvedAxes = { axes: new Map(), manifests: new Map(), problems: [] };
  const { problems } = resolved;
  for (const axis of Object.keys(set)) {
    if (Object.hasOwn(profile.axes, axis)) continue;
    const message = `${spec.name} has no axis "${axis}"`;
    problems.push({ code: "unknown-axis", message, help: didYouMean(axis, Object.keys(profile.axes)) });
  }
  const used = JSON.stringify(spec.stages) + JSON.stringify(profile.axes);
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
    known.set(name, manifest.value as Record<string, unknown>);
    return manifest.value as Record<string, unknown>;
  };

  for (const [name, { spec: axisSpec, path }] of Object.entries(profile.axes)) {
    if (!Array.isArray(axisSpec)) continue;
    const values = chosen(name, axisSpec, set[name], problems);
    resolved.axes.set(name, { name, values });
    if (!usesManifest(name)) continue;
    for (const value of values) {
      const index = axisSpec.indexOf(value);
      read(name, value, index < 0 ? undefined : source.place([...path, index]));
    }
  }
  for (const [name, { spec: axisSpec, path }] of Object.entries(profile.axes)) {
    if (Array.isArray(axisSpec)) continue;
    const parent = resolved.axes.get(axisSpec.of);
    if (!parent || !isManifestKind(axisSpec.of)) {
      problems.push({
        code: "unknown-axis",
        message: `axis "${name}" takes its values of "${axisSpec.of}", which is not an axis with manifests and a list`,
        place: source.place([...path, "of"]),
        help: didYouMean(axisSpec.of, [...resolved.axes.keys()].filter(isManifestKind)),
      });
      continue;
    }
    const valuesOf = new Map<Scalar, Scalar[]>();
    for (const value of parent.values) {
      const manifest = resolved.manifests.get(axisSpec.of)?.get(String(value));
      if (!manifest) continue;
      const listed = manifest[`${name}s`];
      if (!Array.isArray(listed)) {
        const message = `${axisSpec.of} "${value}" has no list "${name}s"`;
        problems.push({ code: "unknown-field", message, place: source.place([...path, "of"]) });
        continue;
      }
      valuesOf.set(
        value,
        (listed as Scalar[]).filter((item) => !set[name] || set[name].includes(String(item))),
      );
    }
    const values = [...new Set([...valuesOf.values()].flat())];
    for (const wanted of set[name] ?? []) {
      if (values.some((value) => String(value) === wanted)) continue;
      const all = [...(resolved.manifests.get(axisSpec.of)?.values() ?? [])].flatMap(
        (one) => (one[`${name}s`] as string[]) ?? [],
      );
      problems.push({
        code: `unknown-${name}`,
        message: `no ${name} "${wanted}" here`,
        help: didYouMean(wanted, new Set(all)),
      });
    }
    resolved.axes.set(name, { name, of: axisSpec.of, values, valuesOf });
    if (usesManifest(name))
      for (const value of values) read(name, value, placeInManifest(axisSpec.of, name, value));
  }
  return resolved;

  function placeInManifest(kind: ManifestKind, axis: string, value: Scalar): Place | undefined {
    for (const [owner, manifest] of resolved.manifests.get(kind) ?? []) {
      const index = (manifest[`${axis}s`] as Scalar[]).indexOf(value);
      const file = readManifest(kind, owner, sources);
      if (index >= 0 && file && !Array.isArray(file)) return file.place([`${axis}s`, index]);
    }
    return undefined;
  }
}

/** A `--set` may name any task, agent or scorer that exists, any whole number where the axis has numbers, else a listed value. */
function chosen(axis: string, listed: Scalar[], set: string[] | undefined, problems: Diagnostic[]): Scalar[] {
  if (!set) return listed;
  const numbers = listed.every((value) => typeof value === "number");
  return [...new Set(set)].flatMap((text): Scalar[] => {
    const same = listed.find((value) => String(value) === text);
    if (same !== undefined) return [same];
    if (isManifestKind(axis)) return [text];
    if (numbers && /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text))) return [Number(text)];
    const message = `axis "${axis}" has no value "${text}"`;
    problems.push({ code: "unknown-value", message, help: didYouMean(text, listed.map(String)) });
    return [];
  });
}
