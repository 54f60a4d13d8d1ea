// The folders of a job on a node that shares no disk with its runner. They hold private inputs: whatever ended an earlier
// job on this node, the next job removes what it left.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { readFormat } from "@mlrb/formats/read-format";
import { anyText, type TypeOf, wholeObject } from "@mlrb/formats/schema";
import { processOwner } from "@mlrb/formats/stage/process-owner";
import { removeDiskImages } from "@mlrb/kit/files/disk-image";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { writeJson } from "@mlrb/kit/json-file";
import { isAlive, thisProcess } from "../leases/owner.ts";

type Folders = {
  /** Absolute: `WORK/RUN/jobs/JOB`. */
  folder: string;
  /** Absolute: `WORK/RUN/SLOT`; of an attempt, `WORK/RUN`. */
  work: string;
};

const mark = "parcel-owner.json";
const ownedWork = wholeObject({ owner: processOwner, work: anyText });

/** `keep`: no later job removes the folders. */
type OwnFolders = { remove: () => void; keep: () => void };

/**
 * Undefined if the folder exists. A work folder that an earlier job left is emptied. Throws if that fails, or if that job
 * still runs.
 */
export async function claimFolders({ folder, work }: Folders): Promise<OwnFolders | undefined> {
  const runs = dirname(dirname(dirname(folder)));
  for (const run of existsSync(runs) ? readdirSync(runs) : []) {
    const jobs = join(runs, run, "jobs");
    for (const job of existsSync(jobs) ? readdirSync(jobs) : []) removeLeft(join(jobs, job));
  }
  if (existsSync(folder)) return undefined;
  for (const job of existsSync(dirname(folder)) ? readdirSync(dirname(folder)) : [])
    if (markIn(join(dirname(folder), job))?.work === work)
      throw new Error(`another job on this node still uses ${work}`);
  await removeDiskImages(work); // an attempt that was killed leaves them mounted
  removeFolder(work); // first: the folders of an attempt's jobs lie in it
  try {
    mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  }
  writeJson(join(folder, mark), { owner: thisProcess(), work });
  return {
    remove() {
      removeFolder(work);
      removeFolder(folder);
    },
    keep: () => rmSync(join(folder, mark)),
  };
}

function removeLeft(folder: string): void {
  const left = markIn(folder);
  if (!left || isAlive(left.owner)) return;
  removeFolder(left.work);
  removeFolder(folder);
}

function markIn(folder: string): TypeOf<typeof ownedWork> | undefined {
  const file = join(folder, mark);
  const reading = existsSync(file) ? readFormat(ownedWork, readFileSync(file, "utf8")) : undefined;
  return reading?.kind === "ok" ? reading.value : undefined;
}
