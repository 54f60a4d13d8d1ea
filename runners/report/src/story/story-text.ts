// The story of an attempt in lines that fit a terminal. Text of agents and models becomes one plain line, so that
// it cannot control the terminal. Width and colour are arguments. Pure.

import { counted } from "@mlrb/core/text/counted";
import { displayWidth } from "@mlrb/core/text/display-width";
import { quantityText } from "@mlrb/core/text/quantity";
import { formatDuration } from "@mlrb/core/text/units";
import type { IterationMetric, IterationRecord } from "@mlrb/formats/attempt/iterations";
import type { NamedScore } from "../exports/attempt-source.ts";
import { paint } from "../formats/terminal-layout.ts";
import { wrap } from "../formats/terminal-text.ts";
import { plainText } from "../read/plain-text.ts";
import { digitsText, sentenceNumber, supportedDigits } from "../sections/digits-text.ts";
import { type AttemptStory, durationOrUnknown } from "./attempt-story.ts";
import type { BudgetPart } from "./budget-parts.ts";
import { bytesText } from "./bytes-text.ts";
import { memberLine } from "./member-cells.ts";
import type { StoryFailure } from "./story-failures.ts";
import type { StoryLine } from "./timeline.ts";

const widthMin = 40;
const barMax = 30;
const timeWidth = 9;
/** Most lines of one entry of the full timeline. */
const fullLines = 20;
/** Most experiments that are listed; the rest is counted. */
const iterationsMax = 30;

type Look = { width: number; color: boolean; full?: boolean };

export function storyText(story: AttemptStory, look: Look): string {
  const width = Math.max(widthMin, Math.floor(look.width));
  const { color, full = false } = look;
  const strong = (text: string) => paint(text, "strong", color);
  const lines: string[] = [...wrap(plainText(story.slot.stage), width).map(strong), ...facts(story, width)];
  const section = (title: string, body: string[]) => lines.push("", strong(title), ...body);
  const list = (title: string, linesMax: number, entries: string[]) => {
    if (entries.length > 0)
      section(
        title,
        entries.flatMap((one) => hanging(one, width, linesMax)),
      );
  };
  if (story.budget.length > 0) section("Budget", bars(story.budget, width));
  list("Members", 4, story.members.map(memberLine));
  const events = story.timeline.flatMap((line) => timelineLines(line, { width, color, full }));
  section("What happened", events);
  if (story.research?.iterations.length) list("Iterations", 2, researchLines(story.research));
  list("Failures, with their owner", 2, story.failures.map(failureText));
  if (story.scores) section("Scores", scores(story.scores, width));
  list("Missing here", 3, story.missing);
  return `${lines.join("\n")}\n`;
}

function failureText({ whose, cause, count, detail }: StoryFailure): string {
  return `${whose}: ${cause}${count > 1 ? `, ${count} times` : ""}: ${detail}`;
}

function facts(story: AttemptStory, width: number): string[] {
  const { state, submission, iterations } = story;
  const malformed = iterations.malformed > 0 ? `, ${iterations.malformed} more malformed` : "";
  const place = [
    story.executor,
    ...Object.entries(story.where).map(([name, value]) => `${name} ${value}`),
  ].join(", ");
  const named: [string, string][] = [
    ["pipeline", `${story.slot.pipeline} (${story.slot.profile})`],
    [state === "recorded" ? "record" : state, story.id],
    [
      "agent",
      [story.kind === null ? "of unknown kind" : `of kind ${story.kind}`, ...story.models].join(", "),
    ],
    ["started", `${story.startedAt}, took ${durationOrUnknown(story.durationMs)}`],
    ["ran on", place],
    ["ended", story.ended ?? "unknown"],
    ["submission", submission === null ? "unknown" : submissionText(submission)],
    ["iterations", `${iterations.wellFormed} reported by the agent${malformed}`],
  ];
  return named.flatMap(([name, value]) =>
    wrap(plainText(value, 500), width - 12).map((line, at) => `${(at === 0 ? name : "").padEnd(11)} ${line}`),
  );
}

function submissionText({ digest, files, bytes }: NonNullable<AttemptStory["submission"]>): string {
  const named = digest === null ? "" : `${digest.slice(0, 12)}, `;
  return `${named}${counted(files, "file")}, ${bytesText(bytes)}`;
}

/** One line for each part: name, bar if there is a limit, words. */
function bars(parts: BudgetPart[], width: number): string[] {
  const names = Math.max(...parts.map(({ name }) => displayWidth(name)));
  // a part without a number may be long and needs no room for a bar
  const numbered = parts.filter(({ used, limit }) => used !== null || limit !== null);
  const words = Math.max(0, ...numbered.map(({ words: text }) => displayWidth(text)));
  const room = Math.min(barMax, width - names - words - 4);
  return parts.flatMap(({ name, used, limit, words: text }) => {
    const share = used !== null && limit !== null && limit > 0 ? Math.min(1, used / limit) : undefined;
    const filled = share === undefined ? 0 : Math.round(share * room);
    const bar =
      room < 5
        ? ""
        : share === undefined
          ? " ".repeat(room + 2)
          : `${"█".repeat(filled)}${"░".repeat(room - filled)}  `;
    return wrap(`${name.padEnd(names)}`, width).length > 1 ||
      names + bar.length + displayWidth(text) + 2 > width
      ? hanging(`${name}: ${text}`, width, 3)
      : [`${name.padEnd(names)}  ${bar}${text}`];
  });
}

/** One event, in lines that fit. The column of times is added after wrapping, because `wrap` drops leading spaces. */
export function timelineLines(
  { sinceStartMs, what, text, mark }: StoryLine,
  { width, color, full }: Required<Look>,
): string[] {
  const when = (sinceStartMs === null ? "" : formatDuration(Math.max(0, sinceStartMs))).padStart(timeWidth);
  const head = what === "" ? "" : `${plainText(what, 60)}: `;
  const room = width - timeWidth - 2;
  const lines = wrap(`${head}${plainText(text, full ? 4000 : 600)}`.trimEnd(), room);
  const shown = full ? lines.slice(0, fullLines) : [cut(lines, room)];
  return shown.map((line, at) => `${at === 0 ? when : " ".repeat(timeWidth)}  ${paint(line, mark, color)}`);
}

function cut([first = "", ...rest]: string[], width: number): string {
  if (rest.length === 0) return first;
  return displayWidth(first) < width ? `${first}…` : `${wrap(first, width - 1)[0]}…`;
}

function hanging(text: string, width: number, linesMax: number): string[] {
  const lines = wrap(plainText(text, 1000), width - 2);
  const shown = lines.slice(0, linesMax);
  if (lines.length > linesMax) shown[linesMax - 1] = cut([shown[linesMax - 1]!, ""], width - 2);
  return shown.map((line, at) => `${at === 0 ? "- " : "  "}${line}`);
}

function scores(
  { verdict, primary, final, checkpoints }: NonNullable<AttemptStory["scores"]>,
  width: number,
): string[] {
  const each = final.flatMap((score) => {
    const earlier = checkpoints.flatMap(({ checkpoint, scores: then }) => {
      const found = then.find(({ name }) => name === score.name);
      return found ? [`${checkpoint} ${valueText(found)}`] : [];
    });
    const over = earlier.length > 0 ? `; checkpoints: ${earlier.join(", ")}` : "";
    return hanging(
      `${score.name}${score.name === primary ? " (decides the task)" : ""}: ${scoreText(score)}${over}`,
      width,
      4,
    );
  });
  return [...hanging(`verdict: ${verdict}`, width, 1), ...each];
}

function scoreText(score: NamedScore): string {
  const { unit, direction, digits, baseline } = score;
  const against = `trivial baseline ${baseline === null ? "unknown" : sentenceNumber(score, baseline, null)}, ${direction} is better`;
  if (score.kind !== "scored") return `${valueText(score)} (${against})`;
  if (unit === "bytes")
    return `${quantityText(score.value, score.standardError, unit)} over ${score.items} items (${against})`;
  return `${valueText(score)} ± ${digitsText(score.standardError, supportedDigits(digits, score.standardError), score.value)} ${unit} over ${score.items} items (${against})`;
}

function valueText(score: NamedScore): string {
  if (score.kind === "rejected") return `rejected: ${score.reason}`;
  if (score.kind !== "scored") return `not measured: ${score.cause}`;
  return sentenceNumber(score, score.value, score.standardError);
}

function researchLines({ iterations, iterationsMore }: NonNullable<AttemptStory["research"]>): string[] {
  const more = Math.max(0, iterations.length - iterationsMax) + iterationsMore;
  const shown = iterations.slice(0, iterationsMax).map(iterationLine);
  return more > 0 ? [...shown, `${more} more experiments`] : shown;
}

/** What was tried, in the agent's words where it has some. */
export function experimentWords({ hypothesis, change, command }: IterationRecord): string {
  return hypothesis ?? change ?? command ?? "";
}

function iterationLine(one: IterationRecord): string {
  const { id, source, metric, decision } = one;
  const about = source === "rule" ? "found by rule" : "reported by the agent";
  const parts = [
    experimentWords(one),
    metric && `${source === "rule" ? "measured" : "reported"} ${metricWords(metric)}`,
    decision,
  ].filter((part) => typeof part === "string" && part !== "");
  return `${id} (${about})${parts.length > 0 ? ": " : ""}${parts.join("; ")}`;
}

function metricWords({ name, split, value }: IterationMetric): string {
  return `${name}${split === null ? "" : ` on ${split}`} ${value ?? "without a value"}`;
}
