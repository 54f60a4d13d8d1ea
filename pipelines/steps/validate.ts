// Validates a submission: whether it may be loaded (admission). Writes the folder that scorers load, which stays
// empty if they may load nothing, and samples of the weights. The rules are judged later, by verdict.ts.

import { readWeights } from "@mlrb/kit/admission/admission-model";
import { admit } from "@mlrb/kit/admission/admit-submission";
import { undecidedText, writeCleanSubmission } from "@mlrb/kit/admission/clean-submission";
import { withLeftOut } from "@mlrb/kit/admission/left-out";
import { unlessAtFault } from "@mlrb/kit/admission/unless-at-fault";
import { writeJson, writeWhole } from "@mlrb/kit/json-file";
import { fingerprint, fingerprintText } from "@mlrb/kit/rules/fingerprint";
import { readLedger } from "@mlrb/kit/rules/ledger";
import type { Safetensors } from "@mlrb/kit/safetensors/safetensors";
import { stage } from "@mlrb/kit/stage";

const { inputs, outputs } = stage();
const ledger = readLedger(inputs.ledger!);
const samplesOf = (files: Safetensors[]) =>
  fingerprintText(fingerprint({ name: "", source: "a submission", licence: "" }, files));

let samples = samplesOf([]);
const to = "submission" in outputs ? [outputs.submission!] : [];
const admission = unlessAtFault(inputs.submission!, to, (folder, [clean]) => {
  const found = withLeftOut(admit(folder), ledger);
  const weights = found.admitted ? readWeights(folder) : undefined;
  if (weights && !found.undecided && clean !== undefined) writeCleanSubmission(folder, clean, weights);
  samples = samplesOf(weights?.files ?? []);
  return found;
});
writeJson(outputs.admission!, admission);
if (admission.undecided) console.log(`undecided: ${undecidedText(admission.undecided)}`);
if ("fingerprint" in outputs) writeWhole(outputs.fingerprint!, admission.admitted ? samples : samplesOf([]));
