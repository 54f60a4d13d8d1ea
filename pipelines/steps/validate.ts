// Judges a submission: whether it may be loaded (admission), and whether the attempt kept the rules for its kind of
// data (verdict). Writes the folder that scorers load, which stays empty if they may load nothing. A rule with an
// unknown method or bad arguments fails the stage; no submission can.

import { readWeights } from "@mlrb/kit/admission/admission-model";
import { admit } from "@mlrb/kit/admission/admit-submission";
import { undecidedText, writeCleanSubmission } from "@mlrb/kit/admission/clean-submission";
import { clip } from "@mlrb/kit/admission/clip";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { writeJson, writeWhole } from "@mlrb/kit/json-file";
import { fingerprint, fingerprintText } from "@mlrb/kit/rules/fingerprint";
import { readKnownWeights } from "@mlrb/kit/rules/known-weights";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { ruleProblems } from "@mlrb/kit/rules/rule-methods";
import { ruleParams } from "@mlrb/kit/rules/rule-params";
import { rulesOn } from "@mlrb/kit/rules/rules-on";
import { verdict } from "@mlrb/kit/rules/verdict";
import { sourceFiles } from "@mlrb/kit/source-file";
import { stage } from "@mlrb/kit/stage";

const { params, inputs, outputs, budget } = stage();
const folder = inputs.submission!;

const { rules: all, data } = ruleParams(params);
const problems = ruleProblems(all);
if (problems.length > 0)
  throw new Error(`the task's rules:\n  ${problems.join("\n  ")}\n  help: repair task.yaml`);
const rules = rulesOn(all, data);
const budgetMs = budget.timeMs;
if (budgetMs === undefined)
  throw new Error("the stage has no budget: write budget: { time } as in the attempt's stage");

const read = readLedger(inputs.ledger!);
const seal = typeof read === "string" ? undefined : read.trajectory;
const trajectory = await verifyTrajectory(inputs.trajectory!, seal);
const broken =
  trajectory.kind === "broken"
    ? `the trajectory is broken at line ${trajectory.line}: ${trajectory.reason}`
    : "";
const ledger = typeof read === "string" ? read : broken || read;

const admission = admit(folder);
if (!admission.admitted && typeof read !== "string") {
  // the folder does not show what was left out of it
  const { overLimits, leftOut } = read.submission;
  if (overLimits) admission.reasons.push({ code: "over-limits", detail: `nothing was taken: ${overLimits}` });
  for (const { path, why } of leftOut.slice(0, 20))
    admission.reasons.push({ code: "left-out", detail: `${clip(path)}: ${why}` });
}
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
writeJson(
  outputs.verdict!,
  verdict(rules, admission, {
    folder,
    weights: weights?.files,
    ledger,
    budgetMs,
    knownWeights: readKnownWeights(sourceFiles("tasks/known-weights/*.json")),
    models: "models" in inputs ? inputs.models! : undefined,
  }),
);
