// `pipeline attempts score`: scores what an attempt would submit now, with the stages that will score its
// submission. It reads a copy: neither the attempt's clock and digests nor any table changes.

import { globSync } from "node:fs";
import { join } from "node:path";
import { inside } from "@mlrb/agents/attempt/workspace";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { attemptPlace, findAttempt } from "../../request/find-attempt.ts";
import { findRunning } from "../../request/find-running.ts";
import { refuseWords } from "../../request/refuse.ts";
import type { PlaceOptions } from "../../request/root-folder.ts";
import type { ScoredPlace } from "../../request/scored-target.ts";
import { scoreFolder } from "../score-command.ts";

export type AttemptScoreOptions = PlaceOptions & { jobs?: string };

export async function attemptsScore(
  repository: string,
  what: string,
  options: AttemptScoreOptions,
): Promise<number> {
  const found = submissionOf(repository, what, options);
  if (typeof found === "string") return refuseWords(found);
  const { place, task, slot, axes } = found;
  const { pipeline, profile, stage } = slot;
  const of = { stage, agent: axes.agent, seed: axes.seed };
  return scoreFolder(repository, place, { ...options, task, pipeline, profile, of });
}

type Found = {
  place: ScoredPlace;
  task: string;
  axes: AttemptRecord["axes"];
  slot: { pipeline: string; profile: string; stage: string };
};

/** A text is the reason that there is nothing to score. */
function submissionOf(repository: string, what: string, { root }: AttemptScoreOptions): Found | string {
  const at = attemptPlace(repository, root);
  const running = findRunning(what, at);
  const found =
    typeof running === "string" ? findAttempt(what, at) : ({ kind: "running", attempt: running } as const);
  if (typeof found === "string") return found;
  if (found.kind === "record") {
    const { outputs, slot, axes } = found.record;
    const { submission } = outputs;
    return submission === undefined
      ? `no-submission: ${slot.stage} has no submission`
      : withTask(slot, axes, { path: join(found.folder, submission.file) });
  }
  const { path, card } = found.attempt;
  // the agent writes there: everything below the sandbox's own folder may be a link
  const [sandbox] = globSync("attempt-*/sandbox-*/", { cwd: path }).sort();
  if (sandbox === undefined)
    return `no-submission: ${card.slot.stage} has no workspace here yet\n  help: try again when its agent works`;
  return withTask(card.slot, card.axes, { path: join(path, sandbox), inside: inside.submission });
}

function withTask(slot: Found["slot"], axes: AttemptRecord["axes"], place: ScoredPlace): Found | string {
  const { task } = axes;
  return typeof task !== "string"
    ? `no-task: ${slot.stage} names no task whose scorers apply`
    : { place, task, axes, slot };
}
