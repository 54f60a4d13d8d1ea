// `run --take-over`: silent hosts are down for good. Leases of their runs are released. Their folders count as those
// of dead runs, which are cleared next. Each host is watched first: a host that still beats keeps everything.

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { type Clock, clock, look, Stillness, silentAfterMs } from "./heartbeat.ts";
import { releaseSilent } from "./lease.ts";
import { lifeOf } from "./owner.ts";

export type TakeOver = {
  /** Called once for each run on another host, before the run is watched for at most `silentMs`. */
  watching?: (owner: Owner, silentMs: number) => void;
  silentMs?: number | undefined;
  clock?: Clock;
};

/** Returns the silent owners. Waits until each owner has beaten once or has been silent for long enough. */
export async function takeOver(
  { work, leases }: { work: string; leases: string },
  options: TakeOver = {},
): Promise<Owner[]> {
  const { silentMs = silentAfterMs, clock: time = clock } = options;
  const cards = () => [
    ...readdirSync(work).map((name) => join(work, name, "owner.json")),
    ...namesOf(leases).map((name) => join(leases, name)),
  ];
  // keyed by beat: a card and all leases that link to it have the same beat
  const watched = new Map<string, { owner: Owner; stillness: Stillness }>();
  for (const path of cards()) {
    const sight = look(path);
    if (!sight || lifeOf(sight.owner) !== "elsewhere" || watched.has(sight.beat)) continue;
    watched.set(sight.beat, { owner: sight.owner, stillness: new Stillness(time) });
    options.watching?.(sight.owner, silentMs);
  }
  const silent: Owner[] = [];
  while (watched.size > 0) {
    const now = new Set(cards().map((path) => look(path)?.beat));
    for (const [beat, { owner, stillness }] of watched) {
      const gone = !now.has(beat); // its owner has beaten since, or has ended
      if (!gone && stillness.look(beat) < silentMs) continue;
      watched.delete(beat);
      if (gone) continue;
      for (const name of namesOf(leases))
        if (look(join(leases, name))?.beat === beat) releaseSilent(leases, name, beat);
      for (const path of readdirSync(work).map((name) => join(work, name, "owner.json")))
        if (look(path)?.beat === beat) rmSync(path, { force: true });
      silent.push(owner);
    }
    if (watched.size > 0) await time.sleep(250);
  }
  return silent;
}

/** Lists leases only: a name with a dot is being added or removed. */
function namesOf(leases: string): string[] {
  return readdirSync(leases).filter((name) => !name.includes("."));
}
