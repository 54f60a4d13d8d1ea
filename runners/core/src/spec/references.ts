// Parses and checks the references of a stage to outputs of others. They are the only edges of the graph.

import type { ArtifactSource, PlannedStage } from "../plan/plan.ts";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";
import type { Path, YamlSource } from "../yaml/yaml-source.ts";
import type { StageContext } from "./check-stage.ts";

export type Reference = ArtifactSource & { path: Path };

export type Wires = {
  needs: Reference[];
  collect: Reference[];
  /** Stages that must end first and give nothing; `output` is empty. */
  startAfter: Reference[];
};

export type How = "needs" | "collects" | "starts after";

/** `stage.output`; in a collect also `digest(stage.output)`. */
export function referencesOf(needs: string[] | Record<string, string> | undefined, path: Path): Reference[] {
  const entries: [string | number, string | undefined, string][] = Array.isArray(needs)
    ? needs.map((text, index) => [index, undefined, text])
    : Object.entries(needs ?? {}).map(([name, text]) => [name, name, text]);
  return entries.map(([step, alias, written]) => {
    const inside = path.at(-1) === "collect" ? /^digest\((.*)\)$/.exec(written)?.[1] : undefined;
    const text = inside ?? written;
    const dot = text.indexOf(".");
    const [stage, output] = dot < 0 ? [text, ""] : [text.slice(0, dot), text.slice(dot + 1)];
    const digestOnly = inside !== undefined && ({ digestOnly: true } as const);
    return { name: alias ?? output, stage, output, path: [...path, step], ...digestOnly };
  });
}

/** The stages of `startAfter`, as references to no output. */
export function stagesBefore(names: string[] | undefined, path: Path): Reference[] {
  return (names ?? []).map((stage, index) => ({ name: "", stage, output: "", path: [...path, index] }));
}

export function checkReference(
  name: string,
  { stage, output, path }: Reference,
  context: StageContext & { stages: Map<string, PlannedStage>; how: How },
): Diagnostic | undefined {
  const { stages, source, how, unclear } = context;
  const place = source.place(path);
  const wrapped = /^digest\((.*)/.exec(stage)?.[1];
  if (wrapped !== undefined) {
    const help = `write ${wrapped}.${output.replace(/\)$/, "")}; only collect takes digest(…)`;
    return { code: "bad-reference", message: `"${name}" cannot need a digest`, place, help };
  }
  const from = stages.get(stage);
  if (!from) {
    if (unclear("stages", stage)) return undefined;
    const help = didYouMean(stage, stages.keys());
    const shown = source.placeOf(path, stage);
    return { code: "unknown-stage", message: `no stage named "${stage}"`, place: shown, help };
  }
  if (output === "" && how !== "starts after") {
    const given = from.gives.map((one) => `${stage}.${one.name}`).join(", ");
    const help = given === "" ? `"${stage}" has no outputs yet` : `write stage.output: ${given}`;
    return { code: "bad-reference", message: `"${stage}" names no output`, place, help };
  }
  if (stage === name) {
    return { code: "cycle", message: `"${name}" ${how} itself`, place, help: "leave it out" };
  }
  if (how !== "starts after" && !from.gives.some((one) => one.name === output)) {
    if (unclear("stages", stage, "gives")) return undefined;
    const given = from.gives.map((one) => one.name);
    const dotted = source.placeOf(path, `.${output}`);
    const shown = { ...dotted, column: dotted.column + 1, length: Math.max(1, dotted.length - 1) };
    return {
      code: "unknown-output",
      message: `"${stage}" gives no "${output}"`,
      place: dotted.length === output.length + 1 ? shown : place,
      help: didYouMean(output, given),
    };
  }
  if (how === "collects" || unclear("stages", stage, "each") || unclear("stages", name, "each"))
    return undefined;
  const each = stages.get(name)!.each;
  const lacking = from.each.filter((axis) => !each.includes(axis) && context.axes.has(axis));
  if (lacking.length === 0) return undefined;
  return {
    code: "missing-axis",
    message: `"${stage}" fans out over ${lacking.map((axis) => `"${axis}"`).join(", ")}, which "${name}" lacks`,
    place,
    help: `write each: [${[...each, ...lacking].join(", ")}]${how === "needs" ? `, or gather with collect: [${stage}.${output}]` : ""}`,
  };
}

export function checkNames(
  name: string,
  { needs, collect }: Pick<Wires, "needs" | "collect">,
  source: YamlSource,
): Diagnostic[] {
  const seen = new Map<string, Reference>();
  const needed = needs.flatMap((need): Diagnostic | [] => {
    const place = source.place(need.path);
    const twin = seen.get(need.name);
    seen.set(need.name, need);
    if (need.name === "manifest" && collect.length > 0) {
      const message = `"${name}" collects, so the input name "manifest" is reserved`;
      const help = `rename: needs: { ${need.stage}: ${need.stage}.${need.output} }`;
      return { code: "reserved-name", message, place, help };
    }
    if (!twin) return [];
    return {
      code: "duplicate",
      message: `"${name}" needs both ${twin.stage}.${twin.output} and ${need.stage}.${need.output} under the name "${need.name}"`,
      place,
      help: `rename: needs: { ${twin.stage}: ${twin.stage}.${twin.output}, ${need.stage}: ${need.stage}.${need.output} }`,
    };
  });
  return [...needed, ...collectedTwice(name, collect, source)];
}

/** Reports an artifact that is collected together with its own digest. */
function collectedTwice(name: string, collect: Reference[], source: YamlSource): Diagnostic[] {
  const seen = new Set<string>();
  return collect.flatMap(({ stage, output, path }) => {
    const text = `${stage}.${output}`;
    if (!seen.has(text)) {
      seen.add(text);
      return [];
    }
    const message = `"${name}" collects ${text} and its digest`;
    const help = "a collected artifact comes with its digest";
    return { code: "duplicate", message, place: source.place(path), help };
  });
}
