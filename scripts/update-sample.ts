// Makes the committed sample and the numbers in the tasks' READMEs from a run's results:
//   pnpm pipeline run full-benchmark && node scripts/update-sample.ts results/full-benchmark/smoke
// The results must have all seven tasks and every score.
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { mustFollow } from "@mlrb/formats/read-format";
import { report as reportFormat } from "@mlrb/formats/report";
import { readJson } from "@mlrb/kit/json-file";
import { sampleBlock, sampleFolder, sampleMark, withBlock } from "./sample-block.ts";
import { sampleFiles } from "./sample-files.ts";

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
const sample = join(repository, sampleFolder);
for (const name of ["report.md", "report.json", "groups.md", "times.md"])
  copyFileSync(join(results, name), join(sample, name));
// with the table of costs, which comes from ledgers
cpSync(join(results, "tables"), join(sample, "tables"), { recursive: true });
for (const [name, content] of Object.entries(await sampleFiles(report))) {
  mkdirSync(dirname(join(sample, name)), { recursive: true });
  writeFileSync(join(sample, name), content);
}
