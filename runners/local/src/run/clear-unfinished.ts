// Clears the temporary files of a killed run: contents, records and leases that were not put in place. They are
// harmless, since nothing reads them, but those of a record may be as large as a submission.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { releaseDead } from "../leases/lease.ts";
import { ifReadable } from "../store/if-readable.ts";

/**
 * Clears the leftovers of a process of this name (process-name) under `state` (`.mlrb`), and the leases of all
 * dead processes.
 */
export function clearUnfinished(state: string, process: string): void {
  const leases = join(state, "leases");
  const unfinished: [string, (name: string) => boolean][] = [
    [join(state, "cache/blobs"), (name) => name.startsWith(`tmp-${process}-`)],
    [join(state, "attempts/records"), (name) => name.startsWith(`tmp-${process}-`)],
    [join(state, "cache/memory"), (name) => name.endsWith(`.${process}.tmp`)],
    [join(state, "cache/actions"), (name) => name.endsWith(`.${process}.tmp`)],
    [leases, (name) => name.split(".")[1] === process],
  ];
  for (const [folder, left] of unfinished) {
    // the cache may have been deleted, and perhaps no attempt has been made yet
    for (const name of ifReadable(() => readdirSync(folder)) ?? [])
      if (left(name)) removeFolder(join(folder, name));
  }
  releaseDead(leases);
}
