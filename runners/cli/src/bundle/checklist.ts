// checklist.md: what reproducibility checklists of venues ask, in words that can be pasted: compute, licences,
// statistics, the protocol. Every number is from the report, its times or the lock of sources.
import { existsSync, readFileSync } from "node:fs";
import { sourceLock } from "@mlrb/formats/declared/source-lock";
import { checkFormat } from "@mlrb/formats/read-format";
import type { Report } from "@mlrb/formats/report";
import type { ProtocolResult } from "@mlrb/formats/report/protocol";
import type { Times } from "@mlrb/formats/times";
import { protocolText } from "@mlrb/report/protocol/protocol-section";
import { gpuClasses } from "@mlrb/report/read/gpu-words";
import { plainText } from "@mlrb/report/read/plain-text";
import { coverageLine } from "@mlrb/report/sections/sections";
import { parse } from "yaml";

/** `lock`: the path of sources.lock.yaml in the bundle. */
type Checked = { report: Report; times: Times | null; lock: string; protocol: ProtocolResult };

export function checklistText({ report, times, lock, protocol }: Checked): string {
  const parts = [
    ["Compute", computeText(report, times)],
    ["Licences", licenceText(report, lock)],
    ["Statistics", statisticsText(report)],
    ["Protocol", protocolText(protocol)],
  ];
  const paragraphs = parts.map(([head, text]) => `**${head}.** ${text}`).join("\n\n");
  return `# Reproducibility checklist\n\nGenerated from the results. Read it before you paste it.\n\n${paragraphs}\n`;
}

function computeText(report: Report, times: Times | null): string {
  const gpus = gpuClasses(report).map(({ name, attempts }) => `${attempts} on ${plainText(name)}`);
  const sum = (of: (attempt: Times["attempts"][number]) => number | null, digits: number) => {
    const all = times?.attempts.map(of) ?? [];
    const known = all.filter((value) => value !== null);
    if (known.length === 0) return "unknown";
    const missing = all.length - known.length;
    const total = known.reduce((a, b) => a + b, 0).toFixed(digits);
    return missing === 0 ? total : `${total} (unknown for ${missing} of ${all.length} attempts)`;
  };
  return [
    `Attempts by hardware: ${gpus.join(", ") || "none"}.`,
    `In sum, the attempts took ${sum(({ wallSeconds }) => wallSeconds && wallSeconds / 3600, 2)} hours, ${sum(({ gpuHours }) => gpuHours, 2)} GPU hours and ${sum(({ dollars }) => dollars, 2)} dollars for calls of models, by their ledgers.`,
    "Scoring, reference models and failed trials of the set-up are not in these sums.",
    "The locks of the Python environments are in locks/; hosts and times of every stage are in page.json.",
  ].join(" ");
}

function licenceText(report: Report, lock: string): string {
  const own = "The results have no licence until their author chooses one.";
  if (report.smoke) return `The tasks' data was generated toy data, without downloads. ${own}`;
  const reading = existsSync(lock)
    ? checkFormat(sourceLock, parse(readFileSync(lock, "utf8")))
    : ({ kind: "unreadable" } as const);
  if (reading.kind !== "ok") return `No lock of sources could be read, so their licences are unknown. ${own}`;
  const all = Object.entries(reading.value.sources);
  const locked = all.flatMap(([name, source]) =>
    source.kind === "resolved" ? [`${name} (${plainText(source.licence ?? "its card names none")})`] : [],
  );
  const open = all.length - locked.length;
  return `Sources with their licences, as their cards name them: ${locked.join(", ") || "none"}.${open > 0 ? ` Not locked, so without a known licence: ${open} of ${all.length}.` : ""} ${own}`;
}

function statisticsText(report: Report): string {
  return [
    plainText(coverageLine(report), 2000),
    "Means are over all attempts that are not missing; failed and disqualified ones count as the trivial baseline.",
    "Intervals are 95 % Student-t intervals over valid attempts; pass rates have Wilson's 95 % intervals; standard errors over items are for these submissions only.",
    "Agents are compared by one two-sided permutation test of their labels within tasks; p of pairs and of single tasks is corrected by Holm's method; what has too few attempts is not tested.",
    "docs/statistics.md defines each number.",
  ].join(" ");
}
