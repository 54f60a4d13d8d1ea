// The places at which an attempt can be branched: its checkpoints, and what its conversation and its meter were there.

import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Checkpoint, checkpoint as checkpointFormat } from "@mlrb/formats/attempt/checkpoint";
import type { LastSpending } from "@mlrb/formats/attempt/last-spending";
import { lastSpending as spendingFormat } from "@mlrb/formats/attempt/last-spending";
import { readFormat } from "@mlrb/formats/read-format";
import { checkpointsFolder } from "@mlrb/kit/attempts/left-checkpoint";
import { splitLines } from "@mlrb/kit/attempts/split-lines";
import { outputPaths } from "../stage/output-paths.ts";
import { ifReadable } from "../store/if-readable.ts";
import type { PlacedAttempt } from "./attempt-folders.ts";

export type BranchPoint = {
  /** Of the checkpoint. */
  name: string;
  /** The folder of checkpoints that holds it. */
  folder: string;
  checkpoint: Checkpoint;
  /** Answers of its models up to there. */
  step: number;
  /** Digest of the last line up to there, and the bytes of all of them. */
  head: string;
  bytes: number;
  sinceStartMs: number;
  /** What its limits count up to there. */
  counted: { tokens: number; dollars: number };
  /** Lines of interventions.jsonl that its trajectory holds. */
  interventions: number;
};

/** Oldest first. A text says why there are none. */
export async function branchPoints({
  path,
  card,
}: Omit<PlacedAttempt, "name">): Promise<BranchPoint[] | string> {
  const { trajectory } = outputPaths(path, card.gives);
  const checkpoints = checkpointsIn(join(path, checkpointsFolder));
  if (trajectory === undefined || checkpoints.length === 0) return "it has no checkpoint of its files";
  const spent = spendingIn(join(path, "spending.jsonl"));
  const points: BranchPoint[] = [];
  const walk = {
    calls: [] as number[],
    head: "0".repeat(64),
    lines: 0,
    bytes: 0,
    sinceStartMs: 0,
    interventions: 0,
  };
  for await (const line of splitLines(trajectory)) {
    for (const one of checkpoints)
      if (one.checkpoint.after === walk.lines) points.push(pointAt(walk, one, spent));
    if (typeof line === "string") break; // the last line is being written
    const event = JSON.parse(line.toString()) as Record<string, unknown>;
    if (event.previous !== walk.head) return `its trajectory is damaged at line ${walk.lines + 1}`;
    if (event.event === "model-call") walk.calls.push(walk.lines);
    if (event.event === "resumed") walk.calls = walk.calls.filter((at) => at < Number(event.after));
    if (event.event === "extended" || event.event === "person-note")
      walk.interventions = Number(event.number);
    walk.head = hash("sha256", line);
    walk.bytes += line.length + 1;
    walk.sinceStartMs = Number(event.sinceStartMs);
    walk.lines++;
  }
  for (const one of checkpoints)
    if (
      one.checkpoint.after === walk.lines &&
      !points.some(({ checkpoint }) => checkpoint === one.checkpoint)
    )
      points.push(pointAt(walk, one, spent));
  return points.length > 0 ? points : "none of its checkpoints belongs to its trajectory";
}

type Walk = Pick<BranchPoint, "head" | "bytes" | "sinceStartMs" | "interventions"> & { calls: number[] };

function pointAt(
  { head, bytes, sinceStartMs, interventions, calls }: Walk,
  { name, folder, checkpoint }: PlacedCheckpoint,
  spent: LastSpending[],
): BranchPoint {
  const before = spent.findLast((line) => (line.sinceStartMs ?? 0) <= sinceStartMs);
  return {
    ...{ name, folder, checkpoint, step: calls.length, head, bytes, interventions },
    sinceStartMs: Math.max(sinceStartMs, checkpoint.workingMs),
    counted: before?.counted ?? { tokens: 0, dollars: 0 },
  };
}

type PlacedCheckpoint = Pick<BranchPoint, "name" | "folder" | "checkpoint">;

function checkpointsIn(folder: string): PlacedCheckpoint[] {
  const names = (ifReadable(() => readdirSync(folder)) ?? []).flatMap(
    (file) => /^(\d{4,})\.json$/.exec(file)?.[1] ?? [],
  );
  return names.sort().flatMap((name) => {
    // a running attempt removes its older checkpoints
    const text = ifReadable(() => readFileSync(join(folder, `${name}.json`), "utf8"));
    const reading = text === undefined ? undefined : readFormat(checkpointFormat, text);
    return reading?.kind === "ok" ? [{ name, folder, checkpoint: reading.value }] : [];
  });
}

function spendingIn(file: string): LastSpending[] {
  const lines = (ifReadable(() => readFileSync(file, "utf8")) ?? "").split("\n");
  return lines.flatMap((line) => {
    const reading = line === "" ? undefined : readFormat(spendingFormat, line);
    return reading?.kind === "ok" ? [reading.value] : [];
  });
}
