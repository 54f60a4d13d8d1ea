// Finds the list of a dependent axis in a manifest: `scorer: { of: task, field: "scorers.{params.data}" }` reads
// `scorers: { smoke: […], official: […] }` by a parameter, so that a profile chooses the scorers.
import { isTable } from "@mlrb/formats/is-table";
import type { Json } from "@mlrb/kit/stage";
import { fill, type Lookup, paramLookup, TemplateProblem } from "../yaml/template.ts";

/** The steps to the list; without `field` its name is that of the axis with an s. Throws TemplateProblem. */
export function axisField(axis: string, field: string | undefined, params: Record<string, Json>): string[] {
  if (field === undefined) return [`${axis}s`];
  const param = paramLookup(params);
  const lookup: Lookup = (name) => {
    if (name.startsWith("params.")) return param(name, lookup);
    throw new TemplateProblem(name, "axes can use parameters only");
  };
  return String(fill(field, lookup)).split(".");
}

export type FieldValue =
  | { kind: "found"; value: unknown }
  /** `steps[depth]` is not among `known`. */
  | { kind: "missing"; depth: number; known: string[] };

export function fieldValue(manifest: unknown, steps: string[]): FieldValue {
  let value = manifest;
  for (const [depth, step] of steps.entries()) {
    const holder: Record<string, unknown> = isTable(value) ? value : {};
    if (!Object.hasOwn(holder, step)) return { kind: "missing", depth, known: Object.keys(holder) };
    value = holder[step];
  }
  return { kind: "found", value };
}
