// Validates a submission that is a program: whether its files may be copied and run in the sandbox (admission). Writes the
// folder that is run, which stays empty if nothing may be run. The rules are judged later, by verdict.ts.
import { admitProgram, writeCleanProgram } from "@mlrb/kit/admission/admit-program";
import { clip } from "@mlrb/kit/admission/clip";
import { writeJson, writeWhole } from "@mlrb/kit/json-file";
import { fingerprint, fingerprintText } from "@mlrb/kit/rules/fingerprint";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { stage } from "@mlrb/kit/stage";

const { inputs, outputs } = stage();
const folder = inputs.submission!;
const ledger = readLedger(inputs.ledger!);

const admission = admitProgram(folder);
if (!admission.admitted && typeof ledger !== "string") {
  // the folder does not show what was left out of it
  const { overLimits, leftOut } = ledger.submission;
  if (overLimits) admission.reasons.push({ code: "over-limits", detail: `nothing was taken: ${overLimits}` });
  for (const { path, why } of leftOut.slice(0, 20))
    admission.reasons.push({ code: "left-out", detail: `${clip(path)}: ${why}` });
}
writeJson(outputs.admission!, admission);
if (admission.admitted) writeCleanProgram(folder, outputs.submission!);
// a program's weights have no known form, so none are compared
writeWhole(
  outputs.fingerprint!,
  fingerprintText(fingerprint({ name: "", source: "a submission", licence: "" }, [])),
);
