// Writes what the repository keeps of two runs, from their results:
//   ./mlrb run sample && node scripts/update-sample.ts results/sample/smoke
//     every file of docs/sample, and a picture of the first screen of the page, by Chromium
//   ./mlrb run full-benchmark && node scripts/update-sample.ts results/full-benchmark/smoke
//     docs/smoke/report.json, and the numbers in the READMEs of all seven tasks
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { mustFollow } from "@mlrb/formats/read-format";
import { type Report, report as reportFormat } from "@mlrb/formats/report";
import { readJson } from "@mlrb/kit/json-file";
import { isAuthored } from "@mlrb/report/read/condition-words";
import { sampleBlock, sampleFolder, sampleMark, smokeFolder, withBlock } from "./sample-block.ts";

const repository = join(import.meta.dirname, "..");
const results = process.argv[2];
if (!results) throw new Error("update-sample.ts needs the folder of a run's results");
const report = mustFollow(reportFormat, readJson(join(results, "report.json")), "report.json");
if (isAuthored(report)) updateSample(results);
else updateSmoke(results, report);

/** All but the page, which is large, and times.json. */
function updateSample(from: string): void {
  const to = join(repository, sampleFolder);
  for (const name of ["figures", "tables"]) rmSync(join(to, name), { recursive: true, force: true });
  for (const name of globSync("{report.json,*.md,*.csv,figures,tables}", { cwd: from }))
    cpSync(join(from, name), join(to, name), { recursive: true });
  const page = `file://${resolve(from, "report.html")}`;
  const picture = `--screenshot=${join(to, "page.png")}`;
  const how = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,800", picture, page];
  execFileSync("chromium", how, { stdio: "ignore" });
}

function updateSmoke(from: string, { coverage }: Report): void {
  const { planned, scored } = coverage.scores;
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
  copyFileSync(join(from, "report.json"), join(repository, smokeFolder, "report.json"));
}
