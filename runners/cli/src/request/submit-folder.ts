// Uses a folder as the submission of an attempt, so that it is validated and scored by the same stages and with
// the same keys as an agent's submission.
import { mkdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { copyOut } from "@mlrb/agents/folders/copy-out";
import type { Instance } from "@mlrb/core/plan/plan";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { Result } from "@mlrb/local/run/result";
import { ingest } from "@mlrb/local/store/ingest-outputs";
import type { Workspace } from "@mlrb/local/store/workspace";

export type SubmittedFolder = Exclude<Awaited<ReturnType<typeof submitFolder>>, string>;

type Place = {
  workspace: Workspace;
  /** An empty folder of the caller. */
  work: string;
  /** The submission's place below the folder. No link is followed on the way: an agent may have put one there. */
  inside?: string | undefined;
};

const limits = { bytesMax: 1024 ** 4, filesMax: 1_000_000 };

/** The content of the attempt's other output files, since there was no attempt. */
const none = { formatVersion: 1, none: "there was no attempt: the folder was handed in by hand" };

/** A text is the reason that the folder cannot be submitted. */
export async function submitFolder(
  folder: string,
  attempt: Instance,
  { workspace, work, inside = "" }: Place,
) {
  const path = resolve(folder);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return `there is no folder ${folder}`;
  if (!stats.isDirectory()) return `${folder} is a file; a submission is a folder`;
  const to = join(work, "submission");
  const taken = await copyOut(realpathSync(path), { inside, to, limits });
  if (taken.kind === "over-limits") return `${folder}: ${taken.detail}`;
  if (taken.kind !== "taken") throw new Error(`bug: a first look at ${folder} was ${taken.kind}`);
  mkdirSync(to, { recursive: true }); // an empty folder copies nothing
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
  const { files, bytes, leftOut, torn } = taken.tree;
  const result: Result = { outcome: { kind: "succeeded" }, outputs };
  return { result, digest: outputs.submission!.digest, files: files.length, bytes, leftOut, torn };
}
