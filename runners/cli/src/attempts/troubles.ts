// What of a run failed for the machine's or a provider's reason, can be resumed, or waits for a person, each with
// the command that mends it. The end of `run` and `status` print the same list.
import { join } from "node:path";
import { attemptId } from "@mlrb/core/ports/attempt-wait";
import { type Outcome, outcomeCause } from "@mlrb/core/ports/outcome";
import { attemptFolders, type PlacedAttempt } from "@mlrb/local/attempts/attempt-folders";
import { quarantineIn } from "@mlrb/local/attempts/quarantine";
import { isResumable } from "@mlrb/local/resume/resumable";
import type { StateFolder } from "@mlrb/local/store/state-folder";
import { isPipelinePath } from "../request/request.ts";
import { typedCommand } from "../request/typed-command.ts";
import type { ShownWait } from "../show/attempt-wait-text.ts";

export type Trouble = {
  /** The stage instance. */
  stage: string;
  why: string;
  /** To type once the reason is repaired. */
  command: string;
};

export type Ended = { stage: string; outcome: Outcome };

export type TroublePlace = {
  state: Pick<StateFolder, "running" | "attempts" | "root">;
  slot: { pipeline: string; profile: string };
  waits: ShownWait[];
  /** The run as typed. */
  asked: { pipeline: string; options: Parameters<typeof typedCommand>[2] };
};

/** Attempts that wait, then failures in the order of `ended`. */
export function troublesOf(ended: Ended[], { state, slot, waits, asked }: TroublePlace): Trouble[] {
  const waiting = waits.flatMap(({ stage, command, waits: [first] }): Trouble[] =>
    command === null ? [] : [{ stage, why: `waits for you: ${first!.cause}: ${first!.detail}`, command }],
  );
  const isOurs = ({ card }: PlacedAttempt) =>
    card.slot.pipeline === slot.pipeline && card.slot.profile === slot.profile;
  const broken = attemptFolders(state.running).filter((one) => isOurs(one) && one.state.kind === "resumable");
  const lost = attemptFolders(join(state.attempts, "lost"))
    .filter(isOurs)
    .sort((a, b) => (a.card.startedAt < b.card.startedAt ? 1 : -1));
  const failed = ended.flatMap(({ stage, outcome }): Trouble[] => {
    if (outcome.kind !== "failed") return [];
    const why = outcomeCause(outcome);
    const ofStage = ({ card }: PlacedAttempt) => card.slot.stage === stage;
    const left = broken.find(ofStage) ?? lost.find(ofStage);
    if (left && isStopped(left, state)) return []; // a person wanted it to end
    const resumes = left !== undefined && isResumable(left.path, left.card);
    if (!resumes && !isOfMachine(outcome)) return [];
    const { root, ...options } = asked.options;
    const command = resumes
      ? typedCommand("attempts resume", lost.includes(left) ? left.name : attemptId(left.name), {
          ...{ root, pipeline: isPipelinePath(asked.pipeline) ? asked.pipeline : undefined },
        })
      : typedCommand("run", asked.pipeline, { ...options, root, only: [stage] });
    return [{ stage, why, command }];
  });
  return [...waiting, ...failed];
}

/** Not the agent's and not the code's: a provider's end is the machine's here, and a key the operator's. */
function isOfMachine({ cause }: Outcome & { kind: "failed" }): boolean {
  return cause === "machine" || cause === "operator";
}

function isStopped({ path }: PlacedAttempt, { root }: Pick<StateFolder, "root">): boolean {
  return quarantineIn(path, root)?.cause.kind === "stopped";
}
