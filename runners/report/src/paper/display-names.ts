// Names of tasks, agents and metrics for papers: titles, where no two are equal.
import type { Report } from "@mlrb/formats/report";
import { plainText } from "../read/plain-text.ts";

const titleMax = 60;

type Named = { name: string; title: string };

export type DisplayNames = Record<"task" | "agent" | "metric", (name: string) => string>;

export function displayNames({ tasks, agents, metrics }: Report): DisplayNames {
  return { task: titles(tasks), agent: titles(agents), metric: titles(metrics) };
}

/** A group of rows for each task, under its name for readers. */
export function paperGroups<Row>(report: Report, rowsOf: (task: string) => Row[]) {
  const { task } = displayNames(report);
  return report.tasks.map(({ name }) => ({ name, title: task(name), rows: rowsOf(name) }));
}

/** Two agents with one title are told apart by their names, so then all have their names. */
function titles(all: readonly Named[]): (name: string) => string {
  const texts = new Map(all.map(({ name, title }) => [name, plainText(title, titleMax)]));
  const isClear = new Set(texts.values()).size === all.length && ![...texts.values()].includes("");
  return (name) => (isClear ? texts.get(name) : undefined) ?? plainText(name, titleMax);
}
