// Compares the weights of all attempts of a task, if a rule of the task asks for it. A separate stage, so that
// no attempt's admission or score waits for other attempts.

import { fingerprintFile } from "@mlrb/formats/judged/fingerprint";
import type { Kinship } from "@mlrb/formats/judged/kinship";
import { mustFollow } from "@mlrb/formats/read-format";
import { readCollected } from "@mlrb/kit/collected";
import { readJson, writeJson } from "@mlrb/kit/json-file";
import { kinship } from "@mlrb/kit/rules/kinship";
import { ruleParams } from "@mlrb/kit/rules/rule-params";
import { rulesOn } from "@mlrb/kit/rules/rules-on";
import { stage } from "@mlrb/kit/stage";

const { params, inputs, outputs } = stage();
const { rules: all, data } = ruleParams(params);
const rules = rulesOn(all, data).filter(({ method }) => method === "unlike-attempts");

// without such a rule nothing is read: models trained from one base have similar weights
const members = rules.length === 0 ? [] : readCollected(inputs.manifest!).members;
const attempts = members.map(({ axes, artifacts }) => {
  const path = artifacts.fingerprint?.path;
  return {
    axes: { agent: String(axes.agent), seed: axes.seed! },
    fingerprint: path === undefined ? undefined : mustFollow(fingerprintFile, readJson(path), path),
  };
});
const findings = kinship(
  attempts.map(({ axes, fingerprint }) => ({ name: `agent ${axes.agent}, seed ${axes.seed}`, fingerprint })),
);
const found: Kinship = {
  formatVersion: 1,
  attempts: attempts.map(({ axes }, at) => ({
    ...axes,
    rules: rules.map(({ name, title, source, severity }) => ({
      rule: name,
      title,
      source,
      severity,
      ...findings[at]!,
    })),
  })),
};
writeJson(outputs.kinship!, found);
