// The checkpoints of an attempt whose workspace is on a node that shares no disk with this host, from the remote cache: the
// newest and the one before. Lists and small files come first; large files of one of them once it is chosen.
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { checkpointParcel, hasTravelled } from "@mlrb/kit/attempts/checkpoint-parcel";
import { checkpointsFolder, hasCheckpoint } from "@mlrb/kit/attempts/left-checkpoint";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import type { PlacedAttempt } from "@mlrb/local/attempts/attempt-folders";
import { attemptPost } from "../run/job-post.ts";

export type FetchedCheckpoints = {
  /** Folders of checkpoints, on the file system of the attempt. */
  folders: string[];
  /** Brings the large files of the checkpoint in one of these folders. A text is the reason that there are none. */
  complete: (folder: string) => Promise<string | undefined>;
  remove: () => void;
  /** Why only checkpoints on this host can be used. */
  warning?: string;
};

const none: FetchedCheckpoints = { folders: [], complete: async () => undefined, remove() {} };

/**
 * A text is the reason that there is nothing, here or in the cache. An attempt that travelled may have checkpoints on this
 * host: those of a branch's parent, or its own where it continues on a shared disk.
 */
export async function fetchedCheckpoints(
  attempt: Pick<PlacedAttempt, "path" | "card">,
): Promise<FetchedCheckpoints | string> {
  if (!hasTravelled(attempt.path)) return none;
  const fetched = await fromCache(attempt);
  if (typeof fetched !== "string" || !hasCheckpoint(join(attempt.path, checkpointsFolder))) return fetched;
  const [why] = fetched.split("\n");
  return { ...none, warning: `only its checkpoints on this host are used: ${why}` };
}

async function fromCache({
  path,
  card,
}: Pick<PlacedAttempt, "path" | "card">): Promise<FetchedCheckpoints | string> {
  const { stage } = card.slot;
  const named = checkpointParcel(path);
  if (!named)
    return `no-checkpoint: ${stage} works on a node without a shared disk, and no checkpoint has reached the remote cache\n  help: try again later`;
  const post = attemptPost(path);
  if (!post)
    return `no-remote-cache: the checkpoints of ${stage} are in the remote cache\n  help: set MLRB_REMOTE_CACHE`;
  mkdirSync(join(path, "parcels"), { recursive: true });
  const above = mkdtempSync(join(path, "parcels", "branch-"));
  const remove = () => {
    post.close();
    removeFolder(above);
  };
  const parcels = new Map<string, { folder: string; parcel: typeof named.parcel }>();
  const troubles: string[] = [];
  for (const [at, parcel] of [named.parcel, ...(named.before ? [named.before] : [])].entries()) {
    const folder = join(above, String(at));
    try {
      await post.fetchCheckpoint(parcel, { folder, isWanted: () => false });
      parcels.set(join(folder, checkpointsFolder), { folder, parcel });
    } catch (error) {
      troubles.push((error as Error).message); // the other one may be there
    }
  }
  if (parcels.size === 0) {
    remove();
    return `no-checkpoint: the checkpoints of ${stage} cannot be fetched: ${troubles.join("; ")}`;
  }
  return {
    folders: [...parcels.keys()],
    remove,
    async complete(chosen) {
      const fetched = parcels.get(chosen);
      if (!fetched) return undefined; // it is on this host
      try {
        await post.fetchCheckpoint(fetched.parcel, { folder: fetched.folder, isWanted: () => true });
        return undefined;
      } catch (error) {
        return `no-checkpoint: the checkpoint of ${stage} cannot be fetched: ${(error as Error).message}`;
      }
    },
  };
}
