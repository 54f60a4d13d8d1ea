// The CSV files of a report, for spreadsheets and data frames. pipelines/result-tables.schema.json describes each column.
import type { Report } from "@mlrb/formats/report";
import { type ResultRow, type ResultTable, resultRows } from "@mlrb/formats/report/result-tables";
import type { Times } from "@mlrb/formats/times";
import { answerRows } from "../judged/answer-rows.ts";
import { attemptRows, checkpointRows, scoreRows } from "./attempt-rows.ts";
import { bestOfRows, profileRows } from "./best-of-rows.ts";
import { csvLine } from "./csv-line.ts";
import { doseRows } from "./dose-rows.ts";
import { headOf } from "./row-parts.ts";
import { comparisonRows, summaryRows } from "./summary-rows.ts";
import { togetherRows } from "./together-rows.ts";

type Taken = Pick<Times, "attempts">;

/** Texts by file name. The first three always exist; the others are left out without rows. */
export function csvFiles(report: Report, times: Taken = { attempts: [] }): Record<string, string> {
  const [checkpoints, comparisons] = [checkpointRows(report), comparisonRows(report)];
  const [answers, doses, members] = [answerRows(report), doseRows(report), memberRows(report, times)];
  const [bestOf, profiles] = [bestOfRows(report), profileRows(report)];
  const together = togetherRows(report);
  return {
    "summary.csv": csvTable("summary", summaryRows(report)),
    "attempts.csv": csvTable("attempts", attemptRows(report)),
    "scores.csv": csvTable("scores", scoreRows(report)),
    ...(checkpoints.length > 0 && { "checkpoints.csv": csvTable("checkpoints", checkpoints) }),
    ...(answers.length > 0 && { "answers.csv": csvTable("answers", answers) }),
    ...(doses.length > 0 && { "doses.csv": csvTable("doses", doses) }),
    ...(bestOf.length > 0 && { "best-of.csv": csvTable("best-of", bestOf) }),
    ...(profiles.length > 0 && { "profiles.csv": csvTable("profiles", profiles) }),
    ...(together.length > 0 && { "together.csv": csvTable("together", together) }),
    ...(comparisons.length > 0 && { "comparisons.csv": csvTable("comparisons", comparisons) }),
    ...(members.length > 0 && { "members.csv": csvTable("members", members) }),
  };
}

/** By the ledgers of teams; without durations, which no CSV file has. */
export function memberRows(report: Report, { attempts }: Taken): ResultRow<"members">[] {
  return attempts.flatMap(({ task, agent, seed, members = [] }) =>
    members.map((one) => ({
      ...{ ...headOf(report), task, agent, seed, member: one.name, member_agent: one.agent, kind: one.kind },
      ...{ calls: one.calls, input_tokens: one.inputTokens, output_tokens: one.outputTokens },
      ...{ dollars: one.dollars, messages: one.messages, message_characters: one.messageCharacters },
      ended: one.end,
    })),
  );
}

/** With CRLF; the row's schema names the columns. Numbers are in full, null is an empty cell, and no text can become a formula. */
function csvTable<Name extends ResultTable>(name: Name, rows: ResultRow<Name>[]): string {
  const columns = Object.keys(resultRows[name].properties);
  const lines = rows.map((row) => {
    const cells = row as Record<string, string | number | boolean | null | undefined>;
    return csvLine(
      columns.map((column) => {
        const value = cells[column];
        if (value === undefined) throw new Error(`bug: ${name}.csv has no value for ${column}`);
        return value;
      }),
    );
  });
  return [csvLine(columns), ...lines].join("");
}
