// Makes the folder of an attempt that begins at a checkpoint of another one. It holds what an attempt holds whose host
// died and left a checkpoint: the lines of the trajectory up to there, the files, and a meter that has counted what its
// limits count. So it continues as such an attempt does. Its bill begins at 0.
import {
  chmodSync,
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { actionKey } from "@mlrb/core/key/action-key";
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import type { LastSpending } from "@mlrb/formats/attempt/last-spending";
import { interventionsFile } from "@mlrb/formats/declared/intervention";
import { type Branch, branchName } from "@mlrb/formats/stage/branch";
import { checkpointContents, checkpointsFolder } from "@mlrb/kit/attempts/left-checkpoint";
import { canonicalJson } from "@mlrb/kit/json-file";
import { thisProcess } from "../leases/owner.ts";
import { outputPaths } from "../stage/output-paths.ts";
import { makeAttemptFolder, type PlacedAttempt } from "./attempt-folders.ts";
import type { BranchPoint } from "./branch-points.ts";

/** The branch from this point; `others` are the branches of all attempts. */
export function branchAt(
  { name }: Pick<PlacedAttempt, "name">,
  point: BranchPoint,
  others: Branch[],
): Branch {
  const { head, step, sinceStartMs } = point;
  const { after, workingMs } = point.checkpoint;
  const same = others.filter((one) => one.parent === name && one.step === step);
  const number = Math.max(0, ...same.map((one) => one.number)) + 1;
  return { parent: name, head, after, step, number, sinceStartMs, workingMs };
}

/** `attempt[task=baby-lm,agent=gpt,seed=1,branch=3f2a90c1d2e4@17]`. */
export function branchStage(stage: string, branch: Branch): string {
  return stage.replace(/(?:,branch=[^\],]*)?\]$/, `,branch=${branchName(branch)}]`);
}

function branchKey(card: Pick<AttemptCard, "parts">, branch: Branch): string {
  return actionKey({ ...card.parts, branch });
}

/** Throws where the parent has removed the checkpoint meanwhile. */
export function makeBranch(
  parent: PlacedAttempt,
  { point, branch, running }: { point: BranchPoint; branch: Branch; running: string },
): { name: string; path: string } {
  const { card } = parent;
  const own: AttemptCard = {
    ...card,
    run: "attempts branch",
    by: thisProcess(),
    startedAt: new Date().toISOString(),
    slot: { ...card.slot, stage: branchStage(card.slot.stage, branch) },
    axes: { ...card.axes, branch: branchName(branch) },
    key: branchKey(card, branch),
    parts: { ...card.parts, branch },
  };
  const { estimate: _, ...unestimated } = own;
  return makeAttemptFolder(running, unestimated, (folder) => fill(folder, parent, point));
}

function fill(folder: string, { path, card }: PlacedAttempt, point: BranchPoint): void {
  const [from, to] = [outputPaths(path, card.gives), outputPaths(folder, card.gives)];
  copyFileSync(from.trajectory!, to.trajectory!, constants.COPYFILE_FICLONE);
  chmodSync(to.trajectory!, 0o644); // a record's files may be read-only
  truncateSync(to.trajectory!, point.bytes);
  if (from.attachments !== undefined && existsSync(from.attachments))
    cpSync(from.attachments, to.attachments!, { recursive: true, mode: constants.COPYFILE_FICLONE });
  writeFileSync(join(folder, "spending.jsonl"), `${canonicalJson(nothingOf(point))}\n`);
  const asked = join(path, interventionsFile);
  if (point.interventions > 0) {
    const lines = readFileSync(asked, "utf8").split("\n").slice(0, point.interventions);
    writeFileSync(join(folder, interventionsFile), `${lines.join("\n")}\n`);
  }
  const own = join(folder, checkpointsFolder);
  mkdirSync(checkpointContents(own), { recursive: true });
  // a content is written once and only copied from
  for (const content of new Set(point.checkpoint.entries.flatMap(({ content = [] }) => content)))
    linkSync(join(checkpointContents(point.folder), content), join(checkpointContents(own), content));
  writeFileSync(join(own, `${point.name}.json`), canonicalJson(point.checkpoint));
}

/** What the parent has used counts for the limits, and not for the bill. */
function nothingOf({ checkpoint, sinceStartMs, counted }: BranchPoint): LastSpending {
  return {
    ...{ formatVersion: 1, calls: 0, failedTries: 0, uncounted: 0, inputTokens: 0, outputTokens: 0 },
    ...{ cachedInputTokens: 0, reasoningTokens: 0, dollars: 0, waitedMs: {} },
    estimated: { calls: 0, answers: 0, inputTokens: 0, outputTokens: 0, dollars: 0 },
    ...{ workingMs: Math.round(checkpoint.workingMs), sinceStartMs: Math.round(sinceStartMs), counted },
  };
}
