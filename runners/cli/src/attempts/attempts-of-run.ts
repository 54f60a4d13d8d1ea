// The attempts of a run: for each attempt stage of a pipeline and profile the attempt that it last used, from any
// pipeline; otherwise the newest attempt made for that stage.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { LastRuns } from "@mlrb/local/journal/last-runs";
import type { HeldRecord } from "@mlrb/local/records/attempt-records";
import { ifReadable } from "@mlrb/local/store/if-readable";
import { type AttemptPlace, type FoundAttempt, foundRecord } from "../request/find-attempt.ts";
import { isUnusedImport } from "./competing-records.ts";

/** A list for each profile of the pipeline with attempts, sorted by stage instance. */
export function attemptsOfRuns(
  pipeline: string,
  profile: string | undefined,
  place: AttemptPlace,
): Map<string, FoundAttempt[]> {
  const { state, records } = place;
  const held = records.readable();
  const folder = join(state.last, pipeline);
  const kept = existsSync(folder) ? readdirSync(folder).map((file) => file.replace(/\.jsonl$/, "")) : [];
  const made = held.filter((one) => one.record.slot.pipeline === pipeline && !isUnusedImport(one, records));
  const profiles = new Set([...kept, ...made.map(({ record }) => record.slot.profile)]);
  const runs = new Map<string, FoundAttempt[]>();
  const find = (key: string) => ifReadable(() => records.find(key)); // damaged: `attempts verify` names it
  for (const name of [...profiles].sort()) {
    if (profile !== undefined && name !== profile) continue;
    const byStage = new Map<string, HeldRecord>();
    for (const one of made.filter(({ record }) => record.slot.profile === name)) {
      const before = byStage.get(one.record.slot.stage);
      if (!before || before.record.ran.startedAt <= one.record.ran.startedAt)
        byStage.set(one.record.slot.stage, one);
    }
    for (const { id, key } of new LastRuns(state.last, pipeline, name).all()) {
      const used = find(key);
      if (used) byStage.set(id, used);
    }
    const found = [...byStage].sort(([a], [b]) => (a < b ? -1 : 1));
    if (found.length > 0)
      runs.set(
        name,
        found.map(([, one]) => foundRecord(one, state)),
      );
  }
  return runs;
}
