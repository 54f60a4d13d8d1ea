// Whether submissions predict private texts better than matched public ones, and how often the note on it is
// wrong.
import type { Report } from "@mlrb/formats/report";
import type { AttemptMemorisation, ReportMemorisation } from "@mlrb/formats/report/memorisation";
import { digitsText, supportedDigits } from "./digits-text.ts";
import { notMeasuredItems } from "./report-words.ts";
import { type Item, type Section, type TableCell, textCell } from "./table.ts";
import { column, noNumber, numeric, tableSection, taskGroups } from "./table-of.ts";

type MemorisationRow = { who: string; seed: string; found: AttemptMemorisation; reference: string };

export function memorisationSection(report: Report): Section {
  const about = {
    heading: "Memorisation",
    caption:
      "Bits per byte of private texts minus those of matched public texts, minus the same of the reference (standard error " +
      "over documents). The reference is the task's unchanged base, or else a bigram of the other public texts " +
      "(bigram-of-others). A negative difference favours private texts. Beyond five standard errors it is noted: possible " +
      "memorisation of the private texts. The note changes no number and disqualifies nothing.",
  };
  const columns = [
    column("agent or model", ({ who }: MemorisationRow) => who),
    numeric("seed", ({ seed }: MemorisationRow) => seed),
    numeric("difference", ({ found }: MemorisationRow) => differenceCell(found)),
    column("note", ({ found }: MemorisationRow) => noteText(found)),
    column("compared with", ({ reference }: MemorisationRow) => reference),
  ];
  const groups = taskGroups(report, (task) => rowsOf(report, task));
  return tableSection(about, groups, columns, [
    ...falseAlarmItems(report.memorisation),
    ...notMeasured(report),
  ]);
}

/** The attempts of a task, then its reference models. Tasks without private documents have no rows. */
function rowsOf(report: Report, task: string): MemorisationRow[] {
  const of = report.memorisation?.tasks.find((one) => one.task === task);
  const reference = of?.reference ?? "unknown";
  const attempts = report.attempts.flatMap(({ task: own, agent, seed, memorisation: found }) =>
    own === task && found && found.kind !== "no-private-documents"
      ? [{ who: agent, seed: String(seed), found, reference }]
      : [],
  );
  const models = of?.models.map(({ name, ...found }) => ({ who: name, seed: "–", found, reference })) ?? [];
  return [...attempts, ...models];
}

/** `-0.42 (0.03)` */
function differenceCell(found: AttemptMemorisation): TableCell {
  if (found.kind !== "compared") return noNumber;
  const { difference, standardError } = found;
  const digits = supportedDigits(3, standardError);
  return textCell(`${digitsText(difference, digits)} (${digitsText(standardError, digits, difference)})`);
}

function noteText(found: AttemptMemorisation): TableCell {
  if (found.kind !== "compared") return textCell("not measured", "faint");
  return found.noted ? textCell("possible memorisation", "bad") : textCell("none");
}

function falseAlarmItems(memorisation: ReportMemorisation | undefined): Item[] {
  if (!memorisation) return [];
  const { noted, models, upper } = memorisation.falseAlarms;
  const bound = upper === null ? "" : ` (95 % interval up to ${(100 * upper).toFixed(0)} %)`;
  return [
    {
      head: "False alarms",
      text:
        `${noted} of ${models} reference models of all tasks, none of which saw a private text, are noted${bound}; equal models of ` +
        "several tasks count once",
    },
  ];
}

function notMeasured({ attempts }: Report): Item[] {
  if (attempts.length === 0) return [];
  if (attempts.every(({ memorisation }) => memorisation === undefined))
    return [{ head: "All tasks", text: "not measured: no stage compares private with public texts" }];
  return notMeasuredItems(attempts, "memorisation");
}
