// The folders of a job on a node that shares no disk with its runner. They hold private inputs: whatever ended an earlier
// job on this node, the next job removes what it left.
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readFormat } from "@mlrb/formats/read-format";
import { anyText, wholeObject } from "@mlrb/formats/schema";
import { processOwner } from "@mlrb/formats/stage/process-owner";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { writeJson } from "@mlrb/kit/json-file";
import { isAlive, thisProcess } from "../leases/owner.ts";

type Folders = {
  /** Absolute: `WORK/RUN/jobs/JOB`. */
  folder: string;
  /** Absolute: `WORK/RUN/SLOT`. */
  work: string;
};

const mark = "parcel-owner.json";
const ownedWork = wholeObject({ owner: processOwner, work: anyText });

/** Undefined if the folder exists. A work folder that an earlier job left is emptied; throws if that fails. */
export function claimFolders({ folder, work }: Folders): { remove: () => void } | undefined {
  const runs = dirname(dirname(dirname(folder)));
  for (const run of existsSync(runs) ? readdirSync(runs) : []) {
    const jobs = join(runs, run, "jobs");
    for (const job of existsSync(jobs) ? readdirSync(jobs) : []) removeLeft(join(jobs, job));
  }
  try {
    mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  }
  writeJson(join(folder, mark), { owner: thisProcess(), work });
  removeFolder(work);
  return {
    remove() {
      removeFolder(work);
      removeFolder(folder);
    },
  };
}

function removeLeft(folder: string): void {
  const file = join(folder, mark);
  if (!existsSync(file)) return;
  const reading = readFormat(ownedWork, readFileSync(file, "utf8"));
  if (reading.kind !== "ok" || isAlive(reading.value.owner)) return;
  const { work } = reading.value;
  removeFolder(work);
  removeFolder(folder);
}
