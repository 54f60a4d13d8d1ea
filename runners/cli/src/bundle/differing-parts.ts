// Which parts of a scoring stage differ between a bundle and this repository, or another bundle. Pure.
import type { BundledPage } from "@mlrb/formats/report/evidence-bundle";
import { shownParams, type TraceNode } from "../show/trace-nodes.ts";

export type Made = NonNullable<BundledPage["instances"][number]["made"]>;

/** What a bundle holds of a stage's action key: no digests of its code. */
export type KeyOutline = Pick<Made, "key" | "files" | "params" | "environment"> & {
  inputs: { name: string; digest: string }[];
};

/** Null where a side has no such part. */
export type PartDifference = {
  kind: "file" | "input" | "parameter" | "environment";
  name: string;
  old: string | null;
  now: string | null;
};

export function outlineOf({ key, parts }: Pick<TraceNode, "key" | "parts">): KeyOutline {
  return {
    key,
    files: Object.entries(parts.files).map(([path, digest]) => ({ path, digest })),
    inputs: Object.entries(parts.inputs).map(([name, digest]) => ({ name, digest })),
    params: shownParams(parts.params),
    environment: parts.environment ?? null,
  };
}

/** Empty if the action keys are equal: then code, data, environment and parameters are. */
export function differingParts(made: Made, node: TraceNode): string[] {
  if (made.key === node.key) return [];
  const named = partDifferences(made, outlineOf(node)).map(({ kind, name }) =>
    kind === "environment" ? kind : `${kind} ${name}`,
  );
  // the bundle has no digests of the code: what is left is its code or what its key says of the host
  return named.length > 0 ? named : ["code of the scorer, or the host"];
}

export function partDifferences(old: KeyOutline, now: KeyOutline): PartDifference[] {
  const [before, after] = [partsOf(old), partsOf(now)];
  return (["file", "input", "parameter", "environment"] as const).flatMap((kind) => {
    const names = [...new Set([...before[kind].keys(), ...after[kind].keys()])].sort();
    return names
      .map((name) => {
        const sides = { old: before[kind].get(name) ?? null, now: after[kind].get(name) ?? null };
        return { kind, name, ...sides };
      })
      .filter((one) => one.old !== one.now);
  });
}

function partsOf({ files, inputs, params, environment }: KeyOutline) {
  return {
    file: new Map(files.map(({ path, digest }) => [path, digest])),
    input: new Map(inputs.map(({ name, digest }) => [name, digest])),
    parameter: new Map(params.map(({ name, value }) => [name, value])),
    environment: new Map(environment === null ? [] : [["environment", environment]]),
  };
}

/** Whether a stored result is the one that the bundle holds, and not made again. */
export function isSameRun({ ran: there }: Made, { ran: here }: TraceNode): boolean {
  return there.run === here.run && there.host === here.host && there.startedAt === here.startedAt;
}
