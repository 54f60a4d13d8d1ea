// The submission of an attempt whose workspace is on a node that shares no disk with this host, as it is in the newest
// checkpoint in the remote cache.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inside } from "@mlrb/agents/attempt/workspace";
import { restoreCheckpoint } from "@mlrb/agents/resume/copy-checkpoint";
import { checkpointParcel } from "@mlrb/kit/attempts/checkpoint-parcel";
import { checkpointContents, checkpointsFolder, leftCheckpoint } from "@mlrb/kit/attempts/left-checkpoint";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import type { PlacedAttempt } from "@mlrb/local/attempts/attempt-folders";
import { RemoteTrouble } from "@mlrb/local/remote/remote-trouble";
import { jobPost } from "../run/job-post.ts";

/** `root`: a sandbox's folder that holds the submission only. */
export type CheckpointSubmission = { root: string; remove: () => void };

/** `state`: the folder `.mlrb`. A text is the reason that there is nothing. */
export async function checkpointSubmission(
  { path, card }: PlacedAttempt,
  state: string,
): Promise<CheckpointSubmission | string> {
  const { stage } = card.slot;
  const named = checkpointParcel(path);
  if (!named)
    return `no-submission: ${stage} works on a node without a shared disk, and no checkpoint has reached the remote cache\n  help: try again later`;
  const folder = mkdtempSync(join(tmpdir(), "mlrb-score-"));
  const remove = () => removeFolder(folder);
  const post = jobPost({ state, scratch: join(folder, "parcels") });
  try {
    if (!post)
      return fail(
        remove,
        `no-remote-cache: the workspace of ${stage} is in the remote cache\n  help: set MLRB_REMOTE_CACHE`,
      );
    const isWanted = (path: string) => path.startsWith(`${inside.submission}/`);
    await post.fetchCheckpoint(named.parcel, { folder, isWanted });
    const checkpoints = join(folder, checkpointsFolder);
    const { checkpoint } = leftCheckpoint(checkpoints)!;
    const entries = checkpoint.entries.filter((one) => `${one.path}/`.startsWith(`${inside.submission}/`));
    const root = mkdtempSync(join(folder, "sandbox-"));
    await restoreCheckpoint(root, checkpointContents(checkpoints), { ...checkpoint, entries }, undefined);
    return { root, remove };
  } catch (error) {
    remove();
    if (!(error instanceof RemoteTrouble)) throw error;
    return `no-submission: the checkpoint of ${stage} cannot be fetched: ${error.message}`;
  } finally {
    post?.close();
  }
}

function fail(remove: () => void, words: string): string {
  remove();
  return words;
}
