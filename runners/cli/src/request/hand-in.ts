// Makes a folder that somebody made stand where an attempt's outputs stand, so that it is validated and
// scored as an agent's submission would be: by the same stages, with the same keys.
import { mkdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { copyOut } from "@mlrb/agents/folders/copy-out";
import type { Instance } from "@mlrb/core/plan/plan";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { Result } from "@mlrb/local/run/result";
import { ingest } from "@mlrb/local/store/ingest";
import type { Workspace } from "@mlrb/local/store/workspace";

export type HandedIn = {
  result: Result;
  digest: string;
  files: number;
  bytes: number;
  /** What was not taken (links, devices, odd names …) and why. */
  leftOut: { path: string; why: string }[];
};

const limits = { bytesMax: 1024 ** 4, filesMax: 1_000_000 };

/** What a stage gives beside the submission, when there was no attempt: says so, where there is room to. */
const none = { formatVersion: 1, none: "there was no attempt: the folder was handed in by hand" };

/** A text says why the folder cannot be handed in. `work` is an empty folder of the caller's. */
export async function handIn(
  folder: string,
  attempt: Instance,
  { workspace, work }: { workspace: Workspace; work: string },
): Promise<HandedIn | string> {
  const path = resolve(folder);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return `there is no folder ${folder}`;
  if (!stats.isDirectory()) return `${folder} is a file; a submission is a folder`;
  const to = join(work, "submission");
  const taken = await copyOut(realpathSync(path), { inside: "", to, limits });
  if (taken.kind === "over-limits") return `${folder}: ${taken.detail}`;
  if (taken.kind !== "taken") throw new Error(`bug: a first look at ${folder} was ${taken.kind}`);
  mkdirSync(to, { recursive: true }); // of an empty folder nothing was taken
  const outputs: Result["outputs"] = {};
  for (const { name, kind } of attempt.stage.gives) {
    const made = join(work, name);
    if (name !== "submission") {
      if (kind === "dir") mkdirSync(made);
      else writeFileSync(made, `${canonicalJson(none)}\n`);
    }
    outputs[name] = await ingest(made, kind, workspace);
    rmSync(made, { recursive: true, force: true });
  }
  const { files, bytes, leftOut } = taken.tree;
  return {
    result: { outcome: { kind: "succeeded" }, outputs },
    digest: outputs.submission!.digest,
    files: files.length,
    bytes,
    leftOut,
  };
}
