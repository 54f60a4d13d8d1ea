// Names of tasks, agents and metrics for papers: titles, where no two are equal.
import type { Report } from "@mlrb/formats/report";
import { plainText } from "../read/plain-text.ts";

const titleMax = 60;

type Named = { name: string; title: string };

export type DisplayNames = Record<"task" | "agent" | "metric", (name: string) => string>;

export function displayNames({ tasks, agents, metrics }: Report): DisplayNames {
  return { task: titles(tasks), agent: titles(agents), metric: titles(metrics) };
}

/** Two agents with one title are told apart by their names, so then all have their names. */
function titles(all: readonly Named[]): (name: string) => string {
  const texts = new Map(all.map(({ name, title }) => [name, plainText(title, titleMax)]));
  const isClear = new Set(texts.values()).size === all.length && ![...texts.values()].includes("");
  return (name) => (isClear ? texts.get(name) : undefined) ?? plainText(name, titleMax);
}
