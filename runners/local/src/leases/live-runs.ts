// Lists the live runs for display: runs with a folder under `.mlrb/work` that are not dead. Lists the stages for
// which each holds a lease, by its journal. Takes no lease, waits for no run and removes nothing; no decision
// depends on the list.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { type JournalLine, journalLines } from "../journal/journal-lines.ts";
import type { StateFolder } from "../store/state-folder.ts";
import { look } from "./heartbeat.ts";
import { isSameProcess, type Life, lifeOf } from "./owner.ts";

type LiveStage = {
  /** The stage instance. */
  stage: string;
  /** When the stage began, by its run's own clock. */
  since: string;
  /** Of a stage that a scheduler runs: whether it waits in its queue, or since when it runs on a node. */
  place?:
    | { kind: "queued"; since: string }
    | { kind: "node"; node: string; since: string; queuedMs?: number };
};

export type LiveRun = {
  run: string;
  pipeline: string;
  profile: string;
  selection: string;
  owner: Owner;
  /** `elsewhere`: the run may be gone. Only watching its heartbeat could show that. */
  life: Exclude<Life, "dead">;
  since: string;
  stages: LiveStage[];
  /** Instances that could start but wait for another run's GPUs, or for the same work in another run. */
  waiting: (LiveStage & { why: string })[];
  /** Waits for resources that the run itself holds, e.g. `3 wait for pool api:openai`. May be empty. */
  queued: string;
};

/** Sorted by start. */
export function liveRuns(state: Pick<StateFolder, "work" | "leases" | "journals">): LiveRun[] {
  if (!existsSync(state.work)) return [];
  return readdirSync(state.work)
    .sort()
    .flatMap((run) => {
      const owner = look(join(state.work, run, "owner.json"))?.owner;
      const life = owner && lifeOf(owner);
      if (!owner || !life || life === "dead") return [];
      const lines = journalLines(join(state.journals, `${run}.jsonl`));
      const begun = lines.find(({ event }) => event === "begin");
      if (!begun?.time) return []; // not a pipeline run, or a run that has not begun yet
      const { pipeline = "", profile = "", selection = "", time } = begun;
      const stages = started(lines).filter(({ key }) => holds(owner, join(state.leases, key)));
      return [
        {
          run,
          pipeline,
          profile,
          selection,
          owner,
          life,
          since: time,
          stages: stages.map(({ key: _, ...stage }) => stage),
          waiting: waiting(lines),
          queued: lines.findLast(({ event }) => event === "queued")?.waits ?? "",
        },
      ];
    });
}

/** Instances that wait and have neither begun nor ended since. */
function waiting(lines: JournalLine[]): LiveRun["waiting"] {
  const waits = new Map<string, LiveRun["waiting"][number]>();
  for (const { event, stage, why, time } of lines) {
    if (stage === undefined) continue;
    if (event === "waiting" && why && time) waits.set(stage, { stage, why, since: time });
    if (event === "start" || event === "stage") waits.delete(stage);
  }
  return [...waits.values()];
}

/** Instances that began and have not ended. */
function started(lines: JournalLine[]): (LiveStage & { key: string })[] {
  const running = new Map<string, LiveStage & { key: string }>();
  for (const { event, stage, key, time, node, queuedMs } of lines) {
    if (stage === undefined || time === undefined) continue;
    if (event === "start" && key) running.set(stage, { stage, key, since: time });
    if (event === "stage") running.delete(stage);
    const one = running.get(stage);
    if (event === "submitted" && one) one.place = { kind: "queued", since: time };
    if (event === "placed" && one && node !== undefined)
      one.place = { kind: "node", node, since: time, ...(queuedMs !== undefined && { queuedMs }) };
    if (event === "retry") delete one?.place;
  }
  return [...running.values()];
}

/** Whether the lease still belongs to this owner and was not taken over. */
function holds(owner: Owner, lease: string): boolean {
  const holder = look(lease)?.owner;
  return holder !== undefined && isSameProcess(holder, owner);
}
