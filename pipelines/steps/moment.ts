// An intermediate checkpoint of a submitted model: the submission at a share of the budget, e.g. `25%`. The task's rules are
// not checked: they apply to the final submission.
//   node pipelines/steps/moment.ts --axis moment=25% --input submission=DIR --input snapshots=DIR \
//     --input ledger=FILE --input admission=FILE --output checkpoint=DIR --output submission=DIR
//     --output admission=FILE --output moment=FILE
// checkpoint: the folder as it was; submission: what scorers load of it (validate.ts)
import { constants, copyFileSync, linkSync } from "node:fs";
import { admit } from "@mlrb/kit/admission/admit-submission";
import { writeCleanSubmission } from "@mlrb/kit/admission/clean-submission";
import { writeMoment } from "./moment/write-moment.ts";

writeMoment(admit, (folder, to, { undecided }) => {
  if (!undecided) writeCleanSubmission(folder, to, undefined, linkOrCopy);
});

/** Both outputs hold the same weights, which are then read and stored once. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to, constants.COPYFILE_FICLONE); // no links here, or another mount
  }
}
