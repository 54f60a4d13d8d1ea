// An intermediate checkpoint of a submitted model: the submission at a share of the budget, e.g. `25%`. The task's
// rules are not checked: they apply to the final submission.
//   node pipelines/steps/checkpoint.ts --axis checkpoint=25% --input submission=DIR --input snapshots=DIR \
//     --input ledger=FILE --input admission=FILE --output contents=DIR --output submission=DIR
//     --output admission=FILE --output checkpoint=FILE
// contents: the folder as it was; submission: what scorers load of it (validate.ts) It is the last snapshot before
// that time, the final submission if the attempt had ended, or an empty folder if there was nothing yet. A
// snapshot may be incomplete, so admission judges it like a submission.
import { constants, copyFileSync, cpSync, linkSync } from "node:fs";
import { join } from "node:path";
import { submissionAt } from "@mlrb/agents/attempt/submission-at";
import { snapshotIndex } from "@mlrb/formats/attempt/snapshot-index";
import { admission } from "@mlrb/formats/judged/admission";
import type { Checkpoint } from "@mlrb/formats/judged/checkpoint";
import { mustFollow } from "@mlrb/formats/read-format";
import { admit } from "@mlrb/kit/admission/admit-submission";
import { writeCleanSubmission } from "@mlrb/kit/admission/clean-submission";
import { unlessAtFault } from "@mlrb/kit/admission/unless-at-fault";
import { checkpointShare } from "@mlrb/kit/attempts/checkpoint-share";
import { readJson, writeJson } from "@mlrb/kit/json-file";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { stage } from "@mlrb/kit/stage";

const { axes, inputs, outputs } = stage();
const share = checkpointShare(axes.checkpoint!);
if (share === undefined)
  throw new Error(
    `the axis checkpoint has the value "${axes.checkpoint}", which is not a share of the budget\n  help: write e.g. 25%, over 0% and under 100%; the end of an attempt is always scored`,
  );
const ledger = readLedger(inputs.ledger!);
if (typeof ledger === "string") throw new Error(`${ledger}, so the time of the checkpoint is unknown`);
const index = mustFollow(
  snapshotIndex,
  readJson(join(inputs.snapshots!, "index.json")),
  "the index of the snapshots",
);
const stood = submissionAt(share, index, ledger);
if (stood.kind === "dropped")
  throw new Error(`the snapshot at ${axes.checkpoint} was not kept: the snapshots exceeded their space`);
const from = stood.kind === "snapshot" ? join(inputs.snapshots!, stood.name) : inputs.submission!;
const digestOf = (name: string) => index.snapshots.find((snapshot) => snapshot.name === name)?.digest;
const isFinal =
  stood.kind === "final" || (stood.kind === "snapshot" && digestOf(stood.name) === ledger.submission.digest);
const to = [outputs.contents!, outputs.submission!];
const found = unlessAtFault(from, to, (folder, [checkpoint, loaded]) => {
  if (stood.kind !== "none")
    cpSync(folder, checkpoint!, { recursive: true, mode: constants.COPYFILE_FICLONE });
  // the final submission's own admission, so that both share a score
  const of = isFinal ? readJson(inputs.admission!) : admit(checkpoint!);
  const judged = mustFollow(admission, of, "admission.json");
  if (judged.admitted && !judged.undecided) writeCleanSubmission(checkpoint!, loaded!, undefined, linkOrCopy);
  return judged;
});
writeJson(outputs.admission!, found);
const { admitted, reasons } = found;
const checkpoint: Checkpoint = { formatVersion: 1, stood, admitted, reasons };
writeJson(outputs.checkpoint!, checkpoint);
console.log(`${axes.checkpoint}: ${stood.kind}, ${admitted ? "admitted" : "not admitted"}`);

/** Both outputs hold the same weights, which are then read and stored once. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to, constants.COPYFILE_FICLONE); // no links here, or another mount
  }
}
