// The report of a run, from whatever its stages left: JSON for programs, Markdown for people, CSV for data frames.
import { join } from "node:path";
import { readCollected } from "@mlrb/kit/collected";
import { writeWhole } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";
import { csv } from "@mlrb/report/csv";
import { json } from "@mlrb/report/json";
import { markdown } from "@mlrb/report/markdown";
import { readArtifact } from "@mlrb/report/read-artifact";
import { reportData } from "@mlrb/report/report-data";

const { inputs, outputs, params } = stage();

const report = reportData(readCollected(inputs.manifest!), { params, read: readArtifact });

writeWhole(join(outputs.report!, "report.json"), json(report));
writeWhole(join(outputs.report!, "report.md"), markdown(report));
writeWhole(join(outputs.report!, "report.csv"), csv(report));
