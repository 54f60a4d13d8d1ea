// The files of the committed sample that its report.json decides. What is made from ledgers (costs, times) is not
// among them.
import type { Report } from "@mlrb/formats/report";
import { csvFiles } from "@mlrb/report/formats/csv-files";
import { figureFile, paperFiles } from "@mlrb/report/formats/latex";
import { forestFigure } from "@mlrb/report/paper/forest-figure";
import { overTimeFigure } from "@mlrb/report/paper/over-time-figure";

/** Contents by path. */
export async function sampleFiles(report: Report): Promise<Record<string, string | Buffer>> {
  const tables = Object.entries(paperFiles(report)).map(([name, text]) => [`tables/${name}`, text]);
  const figures = { scores: await forestFigure(report), "over-time": await overTimeFigure(report) };
  return {
    ...csvFiles(report),
    ...Object.fromEntries(tables),
    ...Object.fromEntries(
      (["scores", "over-time"] as const).flatMap((name) => {
        const pdf = figures[name];
        if (!pdf) return [];
        return [
          [`figures/${name}.pdf`, pdf],
          [`figures/${name}.tex`, figureFile(report, name)],
        ];
      }),
    ),
  };
}
