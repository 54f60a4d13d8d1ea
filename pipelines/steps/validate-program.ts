// Validates a submission that is a program: whether its files may be copied and run in the sandbox (admission). Writes the
// folder that is run, which stays empty if nothing may be run. The rules are judged later, by verdict.ts.
import { admitProgram, writeCleanProgram } from "@mlrb/kit/admission/admit-program";
import { withLeftOut } from "@mlrb/kit/admission/left-out";
import { unlessAtFault } from "@mlrb/kit/admission/unless-at-fault";
import { writeJson, writeWhole } from "@mlrb/kit/json-file";
import { fingerprint, fingerprintText } from "@mlrb/kit/rules/fingerprint";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { stage } from "@mlrb/kit/stage";

const { inputs, outputs } = stage();
const ledger = readLedger(inputs.ledger!);

const admission = unlessAtFault(inputs.submission!, [outputs.submission!], (folder, [clean]) => {
  const found = withLeftOut(admitProgram(folder), ledger);
  if (found.admitted) writeCleanProgram(folder, clean!);
  return found;
});
writeJson(outputs.admission!, admission);
// a program's weights have no known form, so none are compared
writeWhole(
  outputs.fingerprint!,
  fingerprintText(fingerprint({ name: "", source: "a submission", licence: "" }, [])),
);
