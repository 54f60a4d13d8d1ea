// Judges whether an attempt kept the rules for its kind of data (verdict). Runs after the stages that load the
// submission and test it for look-ahead: admission.json says what they found. A rule with an unknown method or bad
// arguments fails the stage; no submission can.

import { admission as admissionFormat } from "@mlrb/formats/judged/admission";
import { identity } from "@mlrb/formats/judged/identity";
import { memory } from "@mlrb/formats/judged/memory";
import { mustFollow } from "@mlrb/formats/read-format";
import { readWeights } from "@mlrb/kit/admission/admission-model";
import { recordedDownloads } from "@mlrb/kit/attempts/recorded-downloads";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { readJson, writeJson } from "@mlrb/kit/json-file";
import { built } from "@mlrb/kit/rules/built";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { ruleProblems } from "@mlrb/kit/rules/rule-methods";
import { ruleParams } from "@mlrb/kit/rules/rule-params";
import { rulesOn } from "@mlrb/kit/rules/rules-on";
import { verdict } from "@mlrb/kit/rules/verdict";
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

const compared =
  "identity" in inputs ? mustFollow(identity, readJson(inputs.identity!), "identity.json") : undefined;

const admission = mustFollow(admissionFormat, readJson(inputs.admission!), "admission.json");
// a submission that was refused later, when it was loaded, still has weights
const weights = admission.admitted ? readWeights(folder) : undefined;
const context = {
  folder,
  weights: weights?.files,
  ledger,
  budgetMs,
  identity: compared,
  downloads: trajectory.kind === "intact" ? await recordedDownloads(inputs.trajectory!) : undefined,
  memory:
    "memory" in inputs ? mustFollow(memory, readJson(inputs.memory!), "memory.json").measurements : undefined,
};
writeJson(outputs.verdict!, { ...verdict(rules, admission, context), built: built(context) });
