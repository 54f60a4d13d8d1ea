// `pipeline attempts branch`: a new attempt that begins at a checkpoint of another one, which stays as it is.
import { join } from "node:path";
import { attemptId } from "@mlrb/core/ports/attempt-wait";
import type { Branch } from "@mlrb/formats/stage/branch";
import { type AttemptFolder, attemptFolders } from "@mlrb/local/attempts/attempt-folders";
import { branchAt, branchStage, makeBranch } from "@mlrb/local/attempts/branch-attempt";
import { type BranchPoint, branchPoints } from "@mlrb/local/attempts/branch-points";
import { runBranch } from "../../attempts/branch-run.ts";
import type { CostOptions } from "../../gates/cost-gate.ts";
import { type AttemptPlace, attemptPlace } from "../../request/find-attempt.ts";
import { findRunning } from "../../request/find-running.ts";
import type { PlaceOptions } from "../../request/root-folder.ts";
import { typedProgram } from "../../request/typed-program.ts";
import { printJson } from "../../show/print-json.ts";

export type BranchOptions = PlaceOptions & CostOptions & { at: string; jobs?: string };

export async function attemptsBranch(
  repository: string,
  what: string,
  options: BranchOptions,
): Promise<number> {
  const place = attemptPlace(repository, options.root);
  const parent = parentOf(what, place);
  if (typeof parent === "string") return refuse(parent);
  const { card } = parent;
  const points = await branchPoints(parent);
  if (typeof points === "string") return refuse(`no-checkpoint: ${card.slot.stage}: ${points}`);
  const point = pointFor(options.at, points);
  if (!point)
    return refuse(
      `no-checkpoint: ${card.slot.stage} has no checkpoint at or before --at ${options.at}\n  help: its checkpoints are at ${stepsOf(points)}`,
    );
  const branch = branchAt(parent, point, branchesIn(place));
  const { running } = place.state;
  const begin = () => {
    try {
      const { name } = makeBranch(parent, { point, branch, running });
      say(name, parent, { branch, points, options });
      return undefined;
    } catch (error) {
      return {
        code: "not-branched",
        message: `${card.slot.stage}: ${(error as Error).message}.`,
        help: "a running attempt removes older checkpoints: repeat the command, or pause the attempt first",
      };
    }
  };
  return runBranch(repository, { card, branch, begin }, options);
}

/** An attempt in any state before its record: with its record, its checkpoints are gone. */
function parentOf(what: string, { state, records }: AttemptPlace): AttemptFolder | string {
  const found = findRunning(what, { state }, ["running", "resumable", "elsewhere"]);
  if (typeof found !== "string") return found;
  const lost = attemptFolders(join(state.attempts, "lost")).filter(({ name }) => name.startsWith(what));
  if (what.length >= 8 && lost.length === 1) return lost[0]!;
  if (what.length >= 8 && lost.length > 1)
    return `no-such-attempt: ${lost.length} attempts in .mlrb/attempts/lost begin with "${what}"\n  help: name one by its folder: ${lost.map(({ name }) => name).join(", ")}`;
  const isRecord = records.list().some((digest) => digest.startsWith(what));
  return isRecord
    ? `no-checkpoint: ${what} is a record, and records hold no checkpoints\n  help: branch an attempt while it runs, is paused, or is kept in .mlrb/attempts/lost`
    : found;
}

/** The newest checkpoint at this step or before it. */
function pointFor(at: string, points: BranchPoint[]): BranchPoint | undefined {
  const step = /^\d+$/.test(at.trim()) ? Number(at) : Number.NaN;
  return points.findLast((point) => point.step <= step);
}

function branchesIn({ state, records }: AttemptPlace): Branch[] {
  const folders = [state.running, join(state.attempts, "lost")].flatMap((folder) => attemptFolders(folder));
  const parts = [...folders.map(({ card }) => card), ...records.readable().map(({ record }) => record)];
  return parts.flatMap(({ parts: { branch } }) => branch ?? []);
}

function stepsOf(points: BranchPoint[]): string {
  return points.map(({ step }) => `step ${step}`).join(" and ");
}

type Said = { branch: Branch; points: BranchPoint[]; options: BranchOptions };

function say(name: string, { name: parent, card }: AttemptFolder, { branch, points, options }: Said): void {
  const { step } = branch;
  const stage = branchStage(card.slot.stage, branch);
  const id = attemptId(name);
  if (options.json) {
    printJson({ event: "attempt-branched", id, stage, parent, step });
    return;
  }
  const other =
    step === Number(options.at)
      ? ""
      : `; there is no checkpoint at step ${options.at}, its checkpoints are at ${stepsOf(points)}`;
  process.stderr.write(
    `${stage}: begins at step ${step} of ${attemptId(parent)}${other}\n  it is in no table; to look at it: ${typedProgram()} attempts watch ${id}\n`,
  );
}

function refuse(words: string): number {
  process.stderr.write(`${words}\n`);
  return 2;
}
