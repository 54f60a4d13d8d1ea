// Resolves a placeholder in a stage's text: an axis, a parameter or a field of a manifest. Only selected fields
// reach an action key, so editing a title reruns only the stages that use it.

import type { Scalar } from "@mlrb/formats/declared/pipeline";
import type { Json } from "@mlrb/kit/stage";
import { isManifestKind, type ManifestKind, manifestFieldNames, manifestFile } from "../spec/manifest.ts";
import { splitTaskName } from "../spec/task-level.ts";
import { didYouMean } from "../yaml/suggest.ts";
import { type Lookup, paramLookup, TemplateProblem } from "../yaml/template.ts";
import type { PlannedStage } from "./plan.ts";
import type { ResolveContext } from "./resolve-context.ts";

export function stageLookup(
  stage: PlannedStage,
  axes: Record<string, Scalar>,
  context: ResolveContext,
): Lookup {
  const { params, pipeline, manifests } = context;
  const param = paramLookup(params);
  const lookup: Lookup = (name) => {
    const [head, ...path] = name.split(".") as [string, ...string[]];
    const problem = (message: string, help: string) => new TemplateProblem(name, message, help);
    if (head === "params") return param(name, lookup);
    if (head === "pipeline" && (path[0] === "name" || path[0] === "title")) return pipeline[path[0]];
    if (path.length === 0) {
      if (Object.hasOwn(axes, head)) return axes[head];
      const help = context.axes.has(head)
        ? `add ${head} to the stage's each`
        : didYouMean(head, Object.keys(axes));
      throw problem(`"${stage.name}" has no axis "${head}"`, help);
    }
    if (head === "pipeline")
      throw problem("a pipeline has a name and a title", didYouMean(path.join("."), ["name", "title"]));
    if (head === "inputs" || head === "outputs")
      throw problem("paths are known only in a command", "a script gets them from kit's stage()");
    if (!isManifestKind(head) || !context.axes.has(head)) {
      const known = ["params", "pipeline", ...[...context.axes.keys()].filter(isManifestKind)];
      throw problem("names no axis with manifests", didYouMean(head, known));
    }
    const select = (value: Scalar): Json => {
      const manifest = manifests.get(head)?.get(String(value));
      const own = { ...axes, [head]: value };
      return manifest ? field(name, manifest as Json, { kind: head, value, path, axes: own }) : null;
    };
    if (Object.hasOwn(axes, head)) return select(axes[head]!);
    return Object.fromEntries(context.axes.get(head)!.values.map((value) => [String(value), select(value)]));
  };
  return lookup;
}

function field(
  name: string,
  manifest: Json,
  from: {
    kind: ManifestKind;
    value: Scalar;
    path: string[];
    axes: Record<string, Scalar>;
  },
): Json {
  const at = (value: Json, depth: number): Json => {
    const step = from.path[depth];
    if (step === undefined) return value;
    // for a list of tables, the field of each: `{agent.gateway.provider}`
    if (Array.isArray(value)) return value.map((entry) => at(entry, depth));
    const holder: Record<string, Json> = value !== null && typeof value === "object" ? value : {};
    if (Object.hasOwn(holder, step) && holder[step] !== undefined) return at(holder[step], depth + 1);
    const known = depth === 0 ? manifestFieldNames(from.kind) : Object.keys(holder);
    if (depth === 0 && known.includes(step)) return null;
    throw new TemplateProblem(
      name,
      `${manifestFile(from.kind, String(from.value))} has no "${from.path.slice(0, depth + 1).join(".")}"`,
      didYouMean(step, known),
    );
  };
  return ownAxes(at(manifest, 0), from.axes);
}

/** Fills in axes of the selecting stage that a manifest names: `program: tasks/{task}/scripts`, also at a level. */
function ownAxes(value: Json, axes: Record<string, Scalar>): Json {
  if (typeof value === "string")
    return value.replace(/\{([\w-]+)\}/g, (all, axis) =>
      Object.hasOwn(axes, axis) ? splitTaskName(String(axes[axis])).folder : all,
    );
  if (Array.isArray(value)) return value.map((item) => ownAxes(item, axes));
  if (value !== null && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, ownAxes(item, axes)]));
  return value;
}
