// Compares the weights of all attempts of a task with one another, where a rule of the task asks for it. A stage
// of its own: no attempt's admission or scores wait for the others.

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

// where no rule asks, nothing is opened and nothing found: weights of one base are all alike
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
