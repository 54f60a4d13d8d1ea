// What readers of an attempt's numbers must know: the mark after the attempt, its words, and the footnote of every
// table with numbers of attempts. Anyone can write an unsigned record; resumed programs had to begin again; an
// extended attempt is in no mean, as the agents of other attempts had less budget.
import { originText } from "@mlrb/core/key/reasons";
import { counted } from "@mlrb/core/text/counted";
import { formatDuration } from "@mlrb/core/text/units";
import type { WeakLimits } from "@mlrb/formats/attempt/weak-limits";
import type { Attempt } from "@mlrb/formats/report/attempt";
import { overlapText } from "../compare/attempt-overlap.ts";
import { plainText } from "./plain-text.ts";

type Known =
  | "origin"
  | "weakLimits"
  | "skippedChecks"
  | "undeclaredChecks"
  | "resumed"
  | "interventions"
  | "replay"
  | "overlap"
  | "marks";
type Made = { [Name in Known]?: Attempt[Name] | undefined };

const limitWords: Record<WeakLimits[number], string> = {
  "no-sandbox": "no sandbox: nothing limited an untrusted agent",
  memory: "memory limit only polled",
  disk: "disk limit only polled",
  "not-recorded": "limits of the sandbox not recorded",
};

type AttemptMark = {
  mark: string;
  /** Of one attempt; empty where it has no mark. */
  text: (attempt: Made) => string;
  /** What it does, where the attempt is told alone. */
  effect?: string;
  /** Of all attempts with the mark, of which there is one or more. */
  footnote?: (marked: Made[]) => string;
};

const imported: AttemptMark = {
  mark: "‡",
  text: ({ origin }) => (origin ? plainText(`imported, ${originText(origin)}`) : ""),
  footnote: (marked) => {
    const ways = [...Map.groupBy(marked, ({ origin }) => plainText(originText(origin!)))];
    const how =
      ways.length === 1
        ? `, ${ways[0]![0]}`
        : `: ${ways.map(([way, of]) => `${of.length} ${way}`).join(", ")}`;
    return `${wereText(marked)} imported${how}`;
  },
};
const weak: AttemptMark = {
  mark: "§",
  text: ({ weakLimits = [] }) => weakLimits.map((limit) => limitWords[limit]).join(", "),
};
const unchecked: AttemptMark = {
  mark: "△",
  text: ({ skippedChecks = [], undeclaredChecks = [] }) => {
    if (skippedChecks.length > 0)
      return `started without ${skippedChecks.join(", ")} (--skip-reference-models)`;
    if (undeclaredChecks.length === 0) return "";
    return `started without ${undeclaredChecks.join(", ")} (no reference model is declared)`;
  },
  footnote: (marked) => `${wereText(marked)} started without a check of reference models on the host`,
};
const resumed: AttemptMark = {
  mark: "#",
  text: ({ resumed: times = 0 }) =>
    times === 0 ? "" : `resumed ${times === 1 ? "once" : `${times} times`} after its supervisor or host died`,
  footnote: (marked) => `${wereText(marked)} resumed after a supervisor or host died`,
};
const extended: AttemptMark = {
  mark: "⊕",
  effect: "; in no mean",
  text: ({ interventions }) => {
    if (!interventions) return "";
    const { addedMs, addedDollars } = interventions;
    const time = addedMs > 0 ? [formatDuration(addedMs)] : [];
    return `extended by ${[...time, ...(addedDollars > 0 ? [`${addedDollars} dollars`] : [])].join(" and ")}`;
  },
  footnote: ({ length }) =>
    `${counted(length, "attempt")} ${length === 1 ? "is" : "are"} in no mean and no test: a person extended ${length === 1 ? "it" : "them"}`,
};

const replayed: AttemptMark = {
  mark: "◇",
  text: ({ replay }) => {
    if (!replay) return "";
    const times = replay.tools === "recorded" ? ", with the times of the recording" : "";
    return replay.recording === "authored"
      ? `replayed from an authored recording, no model was called${times}`
      : `replayed from the recording of an attempt${times}`;
  },
};

const overlapping: AttemptMark = {
  mark: "≈",
  text: ({ overlap }) => overlapText(overlap),
  footnote: ({ length }) => `${counted(length, "attempt")} held scored rows`,
};

const judged: AttemptMark = {
  mark: "¶",
  text: ({ marks = [] }) => {
    const questions = new Set(marks.flatMap((one) => one.questions));
    return questions.size === 0 ? "" : plainText(`marked for a person: ${[...questions].join(", ")}`);
  },
  footnote: ({ length }) =>
    `${counted(length, "attempt")} ${length === 1 ? "is" : "are"} marked by a judge, for a person`,
};

/** In the order in which they follow an attempt. */
export const attemptMarks = [imported, weak, unchecked, resumed, extended, replayed, overlapping, judged];
export const { text: importedText } = imported;
export const { text: weakLimitsText } = weak;
export const { text: uncheckedText } = unchecked;
export const { text: resumedText } = resumed;
export const { text: interventionText } = extended;
export const { text: replayText } = replayed;

function wereText({ length }: Made[]): string {
  return `${counted(length, "attempt")} ${length === 1 ? "was" : "were"}`;
}

/** Those of one attempt. */
export function marksOf(attempt: Made): string {
  return attemptMarks.map(({ mark, text }) => (text(attempt) === "" ? "" : mark)).join("");
}

/** `‡` if one of `attempts` was imported. */
export function importedMark(attempts: readonly Made[]): string {
  return attempts.some((attempt) => importedText(attempt) !== "") ? imported.mark : "";
}

/** `1 attempt was imported, unsigned (‡).` Empty if all were made here. */
export function importedLine(attempts: readonly Made[]): string {
  return footnotes(attempts, [imported]);
}

function footnotes(attempts: readonly Made[], marks: AttemptMark[]): string {
  return marks
    .flatMap(({ mark, text, footnote }) => {
      const marked = attempts.filter((attempt) => text(attempt) !== "");
      return footnote && marked.length > 0 ? [`${footnote(marked)} (${mark}).`] : [];
    })
    .join(" ");
}

/** A caption that ends with the footnotes, if there are any. */
export function withFootnotes(caption: string, attempts: readonly Made[]): string {
  return [caption, footnotes(attempts, attemptMarks)].filter((text) => text !== "").join(" ");
}
