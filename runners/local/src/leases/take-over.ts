// `run --take-over`: silent hosts are down for good. Leases of their runs are released. Their folders count as
// those of dead runs, which are cleared next. Attempts of their supervisors count as those of dead supervisors.
// Each host is watched first: a host that still beats keeps everything.

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { attemptsElsewhere, beatOf, cutOffMs, takeFromHost } from "../attempts/attempts-elsewhere.ts";
import { isResumable } from "../resume/resumable.ts";
import type { StateFolder } from "../store/state-folder.ts";
import { type Clock, clock, look, Stillness, silentAfterMs } from "./heartbeat.ts";
import { releaseSilent } from "./lease.ts";
import { lifeOf } from "./owner.ts";

export type TakeOver = {
  /** Called once for each run or supervisor on another host, before it is watched for at most `silentMs`. */
  watching?: (owner: Owner, silentMs: number) => void;
  silentMs?: number | undefined;
  clock?: Clock;
};

/** Returns the silent owners. Waits until each owner has beaten once or has been silent for long enough. */
export async function takeOver(
  { work, leases, running }: Pick<StateFolder, "work" | "leases" | "running">,
  options: TakeOver = {},
): Promise<Owner[]> {
  const { silentMs = silentAfterMs, clock: time = clock } = options;
  const cards = () => [
    ...readdirSync(work).map((name) => join(work, name, "owner.json")),
    ...namesOf(leases).map((name) => join(leases, name)),
  ];
  const sights = () => [
    ...cards().flatMap((path) => look(path) ?? []),
    ...attemptsElsewhere(running).map((one) => ({ owner: one.state.owner, beat: beatOf(one) })),
  ];
  // keyed by beat: a card and all leases that link to it have the same beat
  const watched = new Map<string, { owner: Owner; stillness: Stillness }>();
  for (const { owner, beat } of sights()) {
    if (lifeOf(owner) !== "elsewhere" || watched.has(beat)) continue;
    watched.set(beat, { owner, stillness: new Stillness(time) });
    options.watching?.(owner, silentMs);
  }
  const silentBeats = new Set<string>();
  const silent: Owner[] = [];
  while (watched.size > 0) {
    const now = new Set(sights().map(({ beat }) => beat));
    for (const [beat, { owner, stillness }] of watched) {
      const gone = !now.has(beat); // its owner has beaten since, or has ended
      if (!gone && stillness.look(beat) < silentMs) continue;
      watched.delete(beat);
      if (gone) continue;
      silentBeats.add(beat);
      if (!cards().some((path) => look(path)?.beat === beat)) continue; // an attempt's
      for (const name of namesOf(leases))
        if (look(join(leases, name))?.beat === beat) releaseSilent(leases, name, beat);
      for (const path of readdirSync(work).map((name) => join(work, name, "owner.json")))
        if (look(path)?.beat === beat) rmSync(path, { force: true });
      silent.push(owner);
    }
    if (watched.size > 0) await time.sleep(250);
  }
  return [...silent, ...(await takeAttempts({ leases, running }, silentBeats, time))];
}

/** After the leases of their runs, of which a living one keeps its attempts. */
async function takeAttempts(
  { leases, running }: Pick<StateFolder, "leases" | "running">,
  silentBeats: ReadonlySet<string>,
  time: Clock,
): Promise<Owner[]> {
  const taken = attemptsElsewhere(running).filter((one) => {
    const beat = beatOf(one);
    return silentBeats.has(beat) && takeFromHost(one, beat, { leases });
  });
  // two supervisors in one sandbox would be worse than a short wait
  if (taken.some(({ path, card }) => isResumable(path, card))) await time.sleep(cutOffMs);
  return taken.map(({ state }) => state.owner);
}

/** Lists leases only: a name with a dot is being added or removed. */
function namesOf(leases: string): string[] {
  return readdirSync(leases).filter((name) => !name.includes("."));
}
