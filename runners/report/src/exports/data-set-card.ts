// The card of a run as a data set of the Hugging Face Hub: which file holds which rows, and the type of each
// column, so that `load_dataset` need not guess it.
import type { Report } from "@mlrb/formats/report";
import { type ResultTable, resultRows } from "@mlrb/formats/report/result-tables";
import { fileHead } from "../formats/markdown.ts";
import { labelText } from "../read/condition-words.ts";
import { plainText } from "../read/plain-text.ts";
import { coverageLine } from "../sections/sections.ts";

/** The tables of a data set in the order of its card. */
export const dataSetTables = Object.keys(resultRows) as ResultTable[];

/** README.md for a folder that holds `data/NAME.csv` for each of `tables`. */
export function dataSetCard(report: Report, tables: readonly ResultTable[]): string {
  return `---
license: unknown
pretty_name: ${yamlText(`${report.title} (${labelText(report)})`)}
language:
- en
tags:
- benchmark-results
- ai-research-agents
configs:
${tables.map((name, at) => configText(name, at === 0)).join("\n")}
dataset_info:
${tables.map(featuresText).join("\n")}
---

${fileHead({ ...report, title: plainText(report.title) })}
Results of one run of mlrb, which runs the ML Research Benchmark. ${plainText(coverageLine(report), 2000).replace(/[<>[\]|*_`]/g, "\\$&")}

Each configuration is one kind of row:

${tables.map((name) => `- \`${name}\``).join("\n")}

\`\`\`python
from datasets import load_dataset

rows = load_dataset("FOLDER", "${tables[0]}", split="train")
\`\`\`

- The rows of every configuration are in the split \`train\`; there is no other.
- An empty value is missing, never 0.
- The interval in \`summary\` is of valid attempts only. It is no interval of \`mean\`.
- mlrb's docs/guide.md describes every column; report.json has the whole report.

**Licence.** The licence in the front matter is \`unknown\`: choose one before you publish this folder. The rows hold scores and, in \`attempts\` and \`scores\`, evidence and words of the agents. They hold no item of a test set.
`;
}

function configText(name: ResultTable, isDefault: boolean): string {
  const lines = [`- config_name: ${name}`, `  data_files: data/${name}.csv`];
  return [...lines, ...(isDefault ? ["  default: true"] : [])].join("\n");
}

function featuresText(name: ResultTable): string {
  const features = Object.entries(resultRows[name].properties).map(
    ([column, schema]) => `  - name: ${column}\n    dtype: ${dtypeOf(schema)}`,
  );
  return [`- config_name: ${name}`, "  features:", ...features].join("\n");
}

/** Whole numbers and truth values of pandas cannot be missing: then they are float64 and string. A seed may be a text. */
function dtypeOf(schema: { type?: string | readonly string[] }): string {
  const types = [schema.type ?? "string"].flat();
  if (types.includes("string")) return "string";
  const isWhole = !types.includes("null");
  if (types.includes("boolean")) return isWhole ? "bool" : "string";
  return types.includes("integer") && isWhole ? "int64" : "float64";
}

/** A JSON text is a YAML text. */
function yamlText(text: string): string {
  return JSON.stringify(plainText(text));
}
