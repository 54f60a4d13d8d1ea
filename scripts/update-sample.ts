// Makes the committed sample and the numbers in the tasks' READMEs from a run's results:
//   pnpm pipeline run full-benchmark && node scripts/update-sample.ts results/full-benchmark/smoke
// The results must have all seven tasks and every score.
import { copyFileSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mustFollow } from "@mlrb/formats/read-format";
import { report as reportFormat } from "@mlrb/formats/report";
import { readJson } from "@mlrb/kit/json-file";
import { sampleBlock, sampleFolder, sampleMark, withBlock } from "./sample-block.ts";

const repository = join(import.meta.dirname, "..");
const results = process.argv[2];
if (!results) throw new Error("update-sample.ts needs the folder of a run's results");
const report = mustFollow(reportFormat, readJson(join(results, "report.json")), "report.json");
const { planned, scored } = report.coverage.scores;
if (scored !== planned)
  throw new Error(`${planned - scored} of ${planned} scores are missing: run the whole pipeline`);

const readmes = globSync("tasks/*/README.md", { cwd: repository }).filter((path) =>
  readFileSync(join(repository, path), "utf8").includes(sampleMark),
);
const missing = readmes.filter(
  (path) => !report.tasks.some(({ name }) => path === `tasks/${name}/README.md`),
);
if (missing.length > 0) throw new Error(`the results have nothing for ${missing.join(", ")}`);
for (const path of readmes) {
  const text = readFileSync(join(repository, path), "utf8");
  const changed = withBlock(text, sampleBlock(report, path.split("/")[1]!));
  if (changed === undefined) throw new Error(`${path} has no marks for the sample's numbers`);
  writeFileSync(join(repository, path), changed);
}
const copied = [
  ...["report.md", "report.json", "report.tex", "groups.md", "times.md"],
  ...["summary.csv", "attempts.csv", "scores.csv", "anchors.csv", "moments.csv"],
];
for (const name of copied) copyFileSync(join(results, name), join(repository, sampleFolder, name));
