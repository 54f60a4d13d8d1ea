// The report of a run, from whatever its stages left: JSON for programs, Markdown for people, CSV for data frames,
// LaTeX for papers; and the parts of each task and what the attempts took, in files of their own.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCollected } from "@mlrb/kit/collected";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { stage } from "@mlrb/kit/stage";
import { csvFiles } from "@mlrb/report/formats/csv-files";
import { groupsMarkdown } from "@mlrb/report/formats/groups";
import { json } from "@mlrb/report/formats/json";
import { costTableFiles, figureFile, paperFiles } from "@mlrb/report/formats/latex";
import { markdown, markdownSection } from "@mlrb/report/formats/markdown";
import { costFigure } from "@mlrb/report/paper/cost-figure";
import { costsSection } from "@mlrb/report/paper/costs";
import { doseFigure } from "@mlrb/report/paper/dose-figure";
import { forestFigure } from "@mlrb/report/paper/forest-figure";
import { overTimeFigure } from "@mlrb/report/paper/over-time-figure";
import { profilesFigure } from "@mlrb/report/paper/profiles-figure";
import { readArtifact, readArtifactBytes } from "@mlrb/report/read/read-artifact";
import { reportData } from "@mlrb/report/read/report-data";
import { reportParams } from "@mlrb/report/read/report-params";
import { times, timesSection } from "@mlrb/report/sections/times";
import { togetherCostsSections } from "@mlrb/report/sections/together-section";

const { inputs, outputs, params } = stage();

const collected = readCollected(inputs.manifest!);
const { label, direction } = reportParams(params);
const report = reportData(collected, { params, read: readArtifact, readSamples: readArtifactBytes });

writeWhole(join(outputs.report!, "report.json"), json(report));
writeWhole(join(outputs.report!, "report.md"), markdown(report));
writeWhole(join(outputs.report!, "groups.md"), groupsMarkdown(report));

const taken = times(collected, { label, readLedger, read: readArtifact, direction });
for (const [name, text] of Object.entries(csvFiles(report, taken)))
  writeWhole(join(outputs.report!, name), text);
writeWhole(join(outputs.report!, "times.json"), `${canonicalJson(taken, 2)}\n`);
writeWhole(join(outputs.report!, "times.md"), markdownSection(timesSection(taken)));

const costs = [costsSection(report, taken), ...togetherCostsSections(report, taken)];
writeWhole(join(outputs.report!, "costs.md"), costs.map((one) => markdownSection(one)).join("\n"));

mkdirSync(join(outputs.report!, "figures"), { recursive: true });
const figures = {
  scores: await forestFigure(report),
  "over-time": await overTimeFigure(report),
  cost: await costFigure(report, taken),
  dose: await doseFigure(report),
  profiles: await profilesFigure(report),
};
for (const name of ["scores", "over-time", "cost", "dose", "profiles"] as const) {
  const pdf = figures[name];
  if (!pdf) continue;
  writeFileSync(join(outputs.report!, "figures", `${name}.pdf`), pdf);
  writeWhole(join(outputs.report!, "figures", `${name}.tex`), figureFile(report, name));
}

mkdirSync(join(outputs.report!, "tables"), { recursive: true });
const tables = { ...paperFiles(report), ...costTableFiles(report, taken) };
for (const [name, text] of Object.entries(tables)) writeWhole(join(outputs.report!, "tables", name), text);
