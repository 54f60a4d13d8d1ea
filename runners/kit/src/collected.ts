// What a collecting stage gets: every planned member of the stages it collects, whatever became of
// it. The manifest is part of the stage's key, so it holds no clock, host or absolute path.
import { dirname, join } from "node:path";
import { readJson } from "./json-file.ts";

export type Collected = { formatVersion: 1; members: Member[] };

export type Member = {
  /** The stage instance, e.g. `score[task=baby-lm,agent=minimal,seed=1,scorer=house-pairs]`. */
  stage: string;
  /** The stage's name, e.g. `score`. */
  name: string;
  /** What its pipeline says that the stage is for; readers go by it, and never by the name. */
  role?: string;
  axes: Record<string, string | number>;
  /** Reused counts as succeeded; not-run was outside the selection and never ran before. */
  outcome: "succeeded" | "failed" | "skipped" | "cancelled" | "not-run";
  /** Why there is no artifact, in words; empty when succeeded. */
  cause: string;
  /** What a table must say beside anything made from this member, e.g. that it was accepted as stale. */
  note?: string;
  /**
   * The collected outputs by name; none unless succeeded. `path` is relative to the manifest; where only the
   * digest was asked for there is none.
   */
  artifacts: Record<string, { digest: string; kind: "file" | "dir"; path?: string }>;
};

/** Reads a manifest and turns the artifacts' paths into absolute ones. */
export function readCollected(manifest: string): Collected {
  const collected = readJson<Collected>(manifest);
  if (collected.formatVersion !== 1) {
    throw new Error(`${manifest}: manifest of format ${collected.formatVersion}; this kit reads format 1`);
  }
  for (const member of collected.members) {
    for (const artifact of Object.values(member.artifacts))
      if (artifact.path !== undefined) artifact.path = join(dirname(manifest), artifact.path);
  }
  return collected;
}
