// Prints how far two filled label sheets agree, of two people or of a person and the rules, and each difference:
//   node scripts/label-agreement.ts person-1.csv person-2.csv
// `pipeline attempts export RUN --format labels --output DIR/` writes the sheets.
import { readFileSync } from "node:fs";
import { cohensKappa } from "@mlrb/core/iterations/testing/agreement";
import { labelAnswers } from "@mlrb/report/exports/label-sheet";
import { parse } from "csv-parse/sync";

type Labels = Map<string, Record<string, string>>;

/** By attempt. Throws with the place and the possible answers for a cell that holds none of them. */
export function readSheet(path: string, text = readFileSync(path, "utf8")): Labels {
  const rows = parse(text, { columns: true, bom: true, skip_empty_lines: true, trim: true }) as Record<
    string,
    string
  >[];
  const labels: Labels = new Map();
  for (const [at, row] of rows.entries()) {
    const { attempt } = row;
    if (!attempt) throw new Error(`${path}: row ${at + 2} names no attempt`);
    if (labels.has(attempt)) throw new Error(`${path}: row ${at + 2} labels ${attempt} again`);
    for (const [column, answers] of Object.entries(labelAnswers)) {
      const answer = row[column] ?? "";
      if (answer !== "" && !answers.includes(answer))
        throw new Error(
          `${path}: row ${at + 2}, column ${column}: "${answer}" is none of ${answers.join(", ")}`,
        );
    }
    labels.set(attempt, row);
  }
  return labels;
}

/** Lines for a person. Attempts without an answer on one of the sheets are left out, and counted. */
export function sheetAgreement(one: Labels, other: Labels): string[] {
  return Object.keys(labelAnswers).flatMap((column) => {
    const both = [...one].flatMap(([attempt, row]) => {
      const answers = [row[column] ?? "", other.get(attempt)?.[column] ?? ""] as [string, string];
      return answers.includes("") ? [] : [{ attempt, answers }];
    });
    const { agree, of, kappa } = cohensKappa(both.map(({ answers }) => answers));
    const left = new Set([...one.keys(), ...other.keys()]).size - of;
    const differ = both.filter(({ answers: [first, second] }) => first !== second);
    return [
      `${column}: ${agree} of ${of} attempts agree, kappa ${kappa === null ? "unknown" : kappa.toFixed(2)}; ${left} without two answers`,
      ...differ.map(({ attempt, answers }) => `  ${attempt}: ${answers.join(" and ")}`),
    ];
  });
}

if (import.meta.main) {
  const [first, second] = process.argv.slice(2);
  if (!first || !second) {
    console.error("usage: node scripts/label-agreement.ts SHEET.csv SHEET.csv");
    process.exit(2);
  }
  console.log(sheetAgreement(readSheet(first), readSheet(second)).join("\n"));
}
