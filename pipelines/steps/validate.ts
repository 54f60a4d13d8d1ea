// Validates a submission: whether it may be loaded (admission). Writes the folder that scorers load, which stays empty if
// they may load nothing, and samples of the weights. The rules are judged later, by verdict.ts.

import { readWeights } from "@mlrb/kit/admission/admission-model";
import { admit } from "@mlrb/kit/admission/admit-submission";
import { undecidedText, writeCleanSubmission } from "@mlrb/kit/admission/clean-submission";
import { withLeftOut } from "@mlrb/kit/admission/left-out";
import { writeJson, writeWhole } from "@mlrb/kit/json-file";
import { fingerprint, fingerprintText } from "@mlrb/kit/rules/fingerprint";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { stage } from "@mlrb/kit/stage";

const { inputs, outputs } = stage();
const folder = inputs.submission!;

const admission = withLeftOut(admit(folder), readLedger(inputs.ledger!));
writeJson(outputs.admission!, admission);
if (admission.undecided) console.log(`undecided: ${undecidedText(admission.undecided)}`);
const weights = admission.admitted ? readWeights(folder) : undefined;
if (weights && !admission.undecided && "submission" in outputs)
  writeCleanSubmission(folder, outputs.submission!, weights);
if ("fingerprint" in outputs)
  writeWhole(
    outputs.fingerprint!,
    fingerprintText(fingerprint({ name: "", source: "a submission", licence: "" }, weights?.files ?? [])),
  );
