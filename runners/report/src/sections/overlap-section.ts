// Whether what attempts held has text of scored rows, where, and what could not be read.

import { exactInterval } from "@mlrb/core/statistics/exact-interval";
import { counted } from "@mlrb/core/text/counted";
import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { AttemptOverlap } from "@mlrb/formats/report/overlap";
import { honestOverlap } from "@mlrb/kit/rules/overlap-evidence";
import { notMeasuredItems } from "./report-words.ts";
import { type Section, type TableCell, textCell } from "./table.ts";
import { byTask, column, noNumber, numeric, tableSection } from "./table-of.ts";

type Measured = AttemptOverlap & { kind: "measured" };

export function overlapSection(report: Report): Section {
  const rows = report.attempts.filter(({ overlap }) => overlap !== undefined);
  const [measure] = rows.flatMap(({ overlap }) => (overlap?.kind === "measured" ? [overlap.measure] : []));
  const how = measure
    ? `A row is found where at least ${100 * measure.share} % of its n-grams of ${measure.n} words occur in what the attempt held: ` +
      "its conversation, its submission and the texts left in its folders. Not counted: n-grams that agents are given, those of " +
      `more than ${measure.rowsMax} rows, and texts under ${measure.wordsMin} words. Rephrased, translated or encoded rows are not found. `
    : "";
  const columns = [
    column("agent", ({ agent }: Attempt) => agent),
    numeric("seed", ({ seed }: Attempt) => String(seed)),
    numeric(
      "rows found",
      cell(({ rows: { found, tested } }) => textCell(`${found} of ${tested}`, found > 0 ? "bad" : undefined)),
    ),
    numeric(
      "rows touched",
      cell(({ rows: { touched } }) => textCell(String(touched))),
    ),
    column("most in", cell(mostIn)),
    column("not read", cell(notRead)),
  ];
  return tableSection(
    { heading: "Overlap", caption: `${how}The mark (≈) changes no number and disqualifies nothing.` },
    byTask(report, rows),
    columns,
    rows.length === 0
      ? []
      : [{ head: "False alarms", text: falseAlarmText() }, ...notMeasuredItems(rows, "overlap")],
  );
}

function cell(show: (found: Measured) => TableCell) {
  return ({ overlap }: Attempt) => (overlap?.kind === "measured" ? show(overlap) : noNumber);
}

function mostIn({ places: [first], placesMore, places }: Measured): TableCell {
  if (first === undefined) return noNumber;
  const place = first.kind === "trajectory" ? `event ${first.place}` : `${first.kind}: ${first.place}`;
  const more = places.length - 1 + placesMore;
  return textCell(more === 0 ? place : `${place}, and ${counted(more, "more place")}`);
}

function notRead({ unread, unreadMore, downloads }: Measured): TableCell {
  const lost = downloads.files - downloads.read;
  const [first] = unread;
  const more = unread.length - 1 + unreadMore;
  const parts = [
    ...(first ? [`${first.place}: ${first.why}${more > 0 ? `, and ${more} more` : ""}`] : []),
    ...(lost > 0 ? [`${lost} of ${counted(downloads.files, "download")}`] : []),
  ];
  return parts.length === 0 ? noNumber : textCell(parts.join("; "));
}

function falseAlarmText(): string {
  const { attempts, marked, of, date } = honestOverlap;
  const [, upper] = exactInterval(marked, attempts);
  return `${marked} of ${attempts} honest attempts are marked (95 % interval up to ${(100 * upper).toFixed(0)} %): ${of}, ${date}`;
}
