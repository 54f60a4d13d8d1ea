// The comparison of two reports as a section: each cell that changed, old → new, and why.
import { answerChanges, answerChangeText } from "../judged/answer-changes.ts";
import { grouped, metricHead } from "../sections/report-words.ts";
import { type Item, type Section, type TableCell, textCell } from "../sections/table.ts";
import { column, numeric, tableSection } from "../sections/table-of.ts";
import type { CellChange, ReportChanges } from "./cell-change.ts";
import { arrow, causeWords, differenceWords, meanWords } from "./change-words.ts";
import type { ItemNoise } from "./item-noise.ts";
import { rescored } from "./rescored.ts";
import { metricOfEither, type Sides } from "./score-change.ts";

/** `name`: what the newer report is compared with. Columns of tests are left out if nothing could be tested. */
export function changesSection(
  changes: ReportChanges,
  { name, sides }: { name: string; sides: Sides },
): Section {
  const changed = changes.cells.filter(({ kind }) => kind === "changed");
  const others = changes.cells.filter(({ kind }) => kind === "added" || kind === "removed");
  const metricOf = (metric: string) => metricOfEither(sides, metric);
  const isTested = (noise: "itemNoise" | "attemptNoise") =>
    changed.some((cell) => cell[noise].kind !== "not-tested");
  const about = {
    heading: `Compared with ${name}`,
    caption: `${countWords(changes, sides)}.${changed.length === 0 ? "" : ` ${help}`}`,
  };
  const groups = tasksOf(sides).map(({ task, title }) => ({
    name: task,
    title: title === task ? task : `${task}: ${title}`,
    rows: changed.filter((cell) => cell.task === task),
  }));
  const itemColumn = column("beyond item noise", (cell: CellChange) => itemText(cell.itemNoise, cell, sides));
  const columns = [
    column("metric", (cell: CellChange) => `${metricHead(metricOf(cell.metric))}${cell.primary ? " *" : ""}`),
    column("agent", ({ agent }: CellChange) => agent),
    numeric("mean", ({ old, now, metric }: CellChange) =>
      arrow(meanWords(old?.mean, metricOf(metric)), meanWords(now?.mean, metricOf(metric))),
    ),
    numeric("difference", (cell: CellChange) => differenceCell(cell, sides)),
    numeric("measured", ({ old, now }: CellChange) => countText(old!, now!)),
    ...(isTested("itemNoise") ? [itemColumn] : []),
    ...(isTested("attemptNoise") ? [column("p over attempts", attemptText)] : []),
  ];
  return tableSection(about, groups, columns, [
    ...causeItems(changed),
    ...untestedItems(changed),
    ...otherItems(others, sides),
    ...answerChanges(sides).map((one) => ({ head: one.about, text: answerChangeText(one) })),
  ]);
}

const help =
  "Means over attempts, old → new; * decides the task. Other submissions that were measured in the same way are tested " +
  "on the items that both have: a difference over two standard errors is beyond item noise. Their attempts are tested by " +
  "permutation, adjusted by Holm over all cells that can be tested. Nothing is tested where the scorer or the data " +
  "changed, or where the submissions are the same.";

/** How many cells changed, and what was rescored. */
function countWords({ cells, scores }: ReportChanges, sides: Sides): string {
  const count = (kind: CellChange["kind"]) => cells.filter((cell) => cell.kind === kind).length;
  const parts = (["changed", "added", "removed"] as const)
    .filter((kind) => count(kind) > 0)
    .map((kind) => `${count(kind)} ${kind}`);
  const again = rescored(scores, sides);
  const cellWords = `${cells.length} cell${cells.length === 1 ? "" : "s"}: ${[...parts, `${count("equal")} equal`].join(", ")}`;
  return again === undefined ? cellWords : `${cellWords}; ${again.text}`;
}

function tasksOf({ old, now }: Sides): { task: string; title: string }[] {
  const titles = new Map([...now.tasks, ...old.tasks].reverse().map(({ name, title }) => [name, title]));
  const names = [...new Set([...now.tasks, ...old.tasks].map(({ name }) => name))];
  return names.map((task) => ({ task, title: titles.get(task)! }));
}

function differenceCell({ difference, metric }: CellChange, sides: Sides): TableCell {
  if (difference === null) return textCell("–", "faint");
  return textCell(differenceWords(difference, metricOfEither(sides, metric)));
}

type CellSide = NonNullable<CellChange["old"]>;

/** `2/2`, or `1/2 → 2/2`: measured of planned attempts. */
function countText(old: CellSide, now: CellSide): string {
  const text = ({ measured, planned }: CellSide) => `${measured}/${planned}`;
  return text(old) === text(now) ? text(now) : arrow(text(old), text(now));
}

/** Cells of one side only: an entry for each task. */
function otherItems(cells: CellChange[], sides: Sides): Item[] {
  return grouped(cells, ({ task, kind }) => [task, kind]).map((same) => ({
    head: `${same[0]!.task}, ${same[0]!.kind}`,
    text: same
      .map(({ agent, metric, old, now }) => {
        const { mean, measured, planned } = (now ?? old)!;
        return `${agent} ${metric} ${meanWords(mean, metricOfEither(sides, metric))} (${measured}/${planned})`;
      })
      .join(", "),
  }));
}

function itemText(noise: ItemNoise, { metric }: CellChange, sides: Sides): TableCell {
  if (noise.kind === "not-tested") return textCell("not tested", "faint");
  const { beyond, difference, standardError, items } = noise;
  if (beyond === null || standardError === null) return textCell("unknown: one item");
  const of = metricOfEither(sides, metric);
  const error = differenceWords(standardError, of).slice(1) || "0";
  return textCell(
    `${beyond ? "yes" : "no"} (${differenceWords(difference, of)} ± ${error}, ${items} items)`,
    beyond ? "strong" : undefined,
  );
}

function attemptText({ attemptNoise }: CellChange): TableCell {
  if (attemptNoise.kind === "not-tested") return textCell("not tested", "faint");
  if (attemptNoise.kind === "too-few") return textCell("too few attempts");
  const { p } = attemptNoise;
  return textCell(p < 0.001 ? "< 0.001" : p.toFixed(3), p < 0.05 ? "strong" : undefined);
}

/** Cells of a task with the same causes share an entry. */
function causeItems(cells: CellChange[]): Item[] {
  const caused = cells.map((cell) => ({ cell, text: causesText(cell) }));
  return grouped(caused, ({ cell, text }) => [cell.task, cell.metric, text]).map((same) => ({
    head: headOf(same.map(({ cell }) => cell)),
    text: same[0]!.text,
  }));
}

function causesText({ causes, scores, seeds }: CellChange): string {
  const text = (words: string, attempts: number) =>
    attempts === scores.of ? words : `${words} in ${attempts} of ${scores.of} attempts`;
  const submissions = causes.filter(({ cause }) => cause.kind === "submission");
  const shown = submissions.length > 1 ? causes.filter((one) => !submissions.includes(one)) : causes;
  const texts = [
    ...(submissions.length > 1 ? [text("other submissions", submissions.length)] : []),
    ...shown.map(({ cause, attempts }) => text(causeWords(cause), attempts)),
    ...(["added", "removed"] as const).flatMap((kind) => seedsText(seeds[kind], kind)),
  ];
  return texts.length > 0 ? texts.join("; ") : "cause unknown: no score of the cell differs";
}

function seedsText(count: number, kind: "added" | "removed"): string[] {
  return count === 0 ? [] : [`${count} attempt${count === 1 ? "" : "s"} ${kind}`];
}

function untestedItems(cells: CellChange[]): Item[] {
  const of = (test: string, whyOf: (cell: CellChange) => string | undefined): Item[] =>
    grouped(
      cells.flatMap((cell) => {
        const why = whyOf(cell);
        return why === undefined ? [] : [{ cell, why }];
      }),
      ({ cell, why }) => [cell.task, cell.metric, why],
    ).map((same) => ({
      head: headOf(same.map(({ cell }) => cell)),
      text: `${test}: ${same[0]!.why}`,
    }));
  return [
    ...of("item noise not tested", ({ itemNoise: one }) =>
      one.kind === "not-tested" ? one.why : leftOut(one),
    ),
    ...of("attempts not tested", ({ attemptNoise, itemNoise }) =>
      attemptNoise.kind === "not-tested" &&
      !(itemNoise.kind === "not-tested" && itemNoise.why === attemptNoise.why)
        ? attemptNoise.why
        : undefined,
    ),
  ];
}

function leftOut(noise: Extract<ItemNoise, { kind: "tested" }>): string | undefined {
  if (noise.leftOut.length === 0) return undefined;
  return noise.leftOut.map(({ seed, why }) => `without seed ${seed} (${why})`).join(", ");
}

function headOf(cells: CellChange[]): string {
  return `${cells[0]!.task}, ${cells[0]!.metric}, ${cells.map(({ agent }) => agent).join(" and ")}`;
}
