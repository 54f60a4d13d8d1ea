// A side of a comparison that comes from an evidence bundle: its report, its samples with digests as ids, and the keys
// of its scores. The report is the one in results/; `report --from` shows that the bundle's files give it.
import { type Reading, readFormat } from "@mlrb/formats/read-format";
import type { Report } from "@mlrb/formats/report";
import { bundledPage, type EvidenceBundle } from "@mlrb/formats/report/evidence-bundle";
import type { TypeOf } from "@mlrb/formats/schema";
import { collected, type Member } from "@mlrb/formats/stage/collected";
import type { ScorePlace } from "@mlrb/report/against/score-change";
import { plainText } from "@mlrb/report/read/plain-text";
import type { Made } from "../bundle/differing-parts.ts";
import { changedLines, changedProblem, type OpenBundle, openBundle } from "../bundle/open-bundle.ts";
import { bundledPageFile, manifestFile } from "../bundle/rebuild-results.ts";
import { readReportText } from "../show/read-report.ts";
import { axesOf, placeOf } from "./score-evidence.ts";

export type BundleSide = {
  report: Report;
  about: Pick<EvidenceBundle, "pipeline" | "profile" | "selection">;
  /** What was checked, and what the bundle lacks. */
  notes: string[];
  samples: (place: ScorePlace) => Reading<string>;
  /** How the score of the report was made. */
  made: (place: ScorePlace) => Made | undefined;
  /** Whether what this stage instance made depends on an attempt, as far as the bundle shows. */
  isOfAttempt: (stage: string) => boolean;
  /** The action key of a stage instance whose score is in the report. */
  keyOf: (stage: string) => string | undefined;
  close: () => void;
};

/** `name`: as typed. `root`: its state folder names the allowed signers. */
export function bundleSide(
  path: string,
  { name, root }: { name: string; root: string },
): BundleSide | { problem: string; help: string } {
  const opened = openBundle(path, root);
  if (opened.kind === "changed") {
    const { problem, help } = changedProblem(name, opened.found);
    return { problem: [...changedLines(opened.found), problem].join("\n"), help };
  }
  const refused = (problem: string, help: string) => {
    opened.close();
    return { problem, help };
  };
  const { signed } = opened;
  if (signed.kind === "refused") return refused(`${signed.code}: ${name}: ${signed.words}`, signed.help);
  const text = textOf(opened, "results/report.json");
  const reading = text.kind === "ok" ? readReportText(text.value) : text;
  if (reading.kind !== "ok")
    return refused(
      `no-report: ${name} has no report of this version (${reading.cause})`,
      "use the version of this program that wrote the bundle",
    );
  return sideOf(opened, { name, report: reading.value, words: signed.words });
}

function sideOf(
  opened: OpenBundle,
  { name, report, words }: { name: string; report: Report; words: string },
): BundleSide {
  const manifest = fileOf(opened, manifestFile, collected);
  const page = fileOf(opened, bundledPageFile, bundledPage);
  const members = manifest.kind === "ok" ? manifest.value.members : [];
  const instances = page.kind === "ok" ? page.value.instances : [];
  const scores = new Map(
    members.filter(({ role }) => role === "score").map((one) => [placeOf(one.axes), one]),
  );
  const byId = new Map(instances.map((one) => [one.id, one]));
  const madeOf = (member: Member | undefined): Made | undefined => {
    const made = member && byId.get(member.stage)?.made;
    const digest = made?.outputs.find((one) => one.name === "score")?.digest;
    // the page may show a later run than the report
    return made && digest !== undefined && digest === member.artifacts.score?.digest ? made : undefined;
  };
  // without recursion: the graph of a stranger may be deep
  const isOfAttempt = (stage: string): boolean => {
    const queue = new Set([stage]);
    for (const id of queue) {
      const instance = byId.get(id);
      if (!instance?.made || instance.role === "attempt") return true;
      for (const { from } of instance.made.inputs) queue.add(from);
    }
    return false;
  };
  const lacks = (what: string, reading: Reading<unknown>) =>
    reading.kind === "ok" ? [] : [`${name} names no ${what}: ${plainText(reading.cause)}`];
  return {
    report,
    about: opened.found.bundle,
    notes: [
      `${name}: every byte as listed; ${words}`,
      ...lacks("samples", manifest),
      ...lacks("action keys", page),
    ],
    samples: (place) => {
      const path = scores.get(placeOf(axesOf(place)))?.artifacts.samples?.path;
      return path === undefined
        ? { kind: "unreadable", cause: `${name} holds no samples of it` }
        : textOf(opened, path);
    },
    made: (place) => madeOf(scores.get(placeOf(axesOf(place)))),
    isOfAttempt,
    keyOf: (stage) => byId.get(stage)?.made?.key,
    close: opened.close,
  };
}

function fileOf<const Schema extends object>(
  opened: OpenBundle,
  path: string,
  format: Schema,
): Reading<TypeOf<Schema>> {
  const text = textOf(opened, path);
  return text.kind === "ok" ? readFormat(format, text.value) : text;
}

function textOf(opened: OpenBundle, path: string): Reading<string> {
  try {
    return { kind: "ok", value: opened.textOf(path) };
  } catch (error) {
    return { kind: "unreadable", cause: plainText((error as Error).message) };
  }
}
