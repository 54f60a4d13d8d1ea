// The tables of all checked judges: JSON for programs and for the reports that quote them, Markdown for people.
import { judgeCheck, judgeChecks } from "@mlrb/formats/judged/judge-check";
import { mustFollow } from "@mlrb/formats/read-format";
import { readCollected } from "@mlrb/kit/collected";
import { readJson, writeJson, writeWhole } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";
import { markdownSection } from "@mlrb/report/formats/markdown";
import { judgeCheckSection } from "@mlrb/report/judged/judge-check-section";
import { plainSection } from "@mlrb/report/sections/sections";

const { inputs, outputs } = stage();
const members = readCollected(inputs.manifest!).members.map(({ stage, artifacts, ...member }) => {
  const path = artifacts.check?.path;
  if (path === undefined) return { stage, cause: member.cause || member.outcome };
  return mustFollow(judgeCheck, readJson(path), path);
});
const all = {
  formatVersion: 1,
  checks: members.filter((one) => "measures" in one),
  missing: members.filter((one) => "cause" in one),
} as const;
writeJson(outputs.checks!, mustFollow(judgeChecks, all, "judge-check.json"));
writeWhole(outputs.markdown!, markdownSection(plainSection(judgeCheckSection(all))));
