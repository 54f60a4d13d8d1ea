// Which parts of a scoring stage differ between a bundle and this repository. Pure.
import type { BundledPage } from "@mlrb/formats/report/evidence-bundle";
import { shownParams, type TraceNode } from "../show/trace-nodes.ts";

type Made = NonNullable<BundledPage["instances"][number]["made"]>;

/** Empty if the action keys are equal: then code, data, environment and parameters are. */
export function differingParts(made: Made, { key, parts, inputs }: TraceNode): string[] {
  if (made.key === key) return [];
  const here = {
    file: Object.entries(parts.files).map(([path, digest]) => [path, digest] as const),
    input: inputs.map(({ name, digest }) => [name, digest] as const),
    parameter: shownParams(parts.params).map(({ name, value }) => [name, value] as const),
  };
  const there = {
    file: made.files.map(({ path, digest }) => [path, digest] as const),
    input: made.inputs.map(({ name, digest }) => [name, digest] as const),
    parameter: made.params.map(({ name, value }) => [name, value] as const),
  };
  const kinds = ["file", "input", "parameter"] as const;
  const named = kinds.flatMap((kind) =>
    differentNames(new Map(there[kind]), new Map(here[kind])).map((name) => `${kind} ${name}`),
  );
  if ((made.environment ?? null) !== (parts.environment ?? null)) named.push("environment");
  // the bundle has no digests of the code: what is left is its code or what its key says of the host
  return named.length > 0 ? named : ["code of the scorer, or the host"];
}

function differentNames(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] {
  const names = [...new Set([...one.keys(), ...other.keys()])].sort();
  return names.filter((name) => one.get(name) !== other.get(name));
}

/** Whether a stored result is the one that the bundle holds, and not made again. */
export function isSameRun({ ran: there }: Made, { ran: here }: TraceNode): boolean {
  return there.run === here.run && there.host === here.host && there.startedAt === here.startedAt;
}
