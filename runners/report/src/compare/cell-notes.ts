// Sentences about one cell: why a number is missing, and what a reader must know of its attempts.
import type { IntentionToTreat } from "@mlrb/core/statistics/intention-to-treat";
import type { Metric } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import { importedText } from "../read/attempt-marks.ts";
import { digitsText, scoreError, sentenceNumber, supportedText } from "../sections/digits-text.ts";
import { listText } from "../sections/report-words.ts";
import type { Baseline } from "./baseline-of.ts";
import type { Counting } from "./counting.ts";
import { equalSubmissions } from "./equal-submissions.ts";
import { peopleMin } from "./few-people.ts";

/** `ways` are of `attempts`, in order; `repeats` are groups of them. */
export function cellNotes(
  attempts: Attempt[],
  given: {
    isPerson: boolean;
    metric: Metric;
    primary: boolean;
    found: IntentionToTreat;
    ways: Counting[];
    baseline: Baseline;
    repeats: Attempt[][];
    implausible: Cell["implausible"];
  },
): string[] {
  const { metric, found, ways, baseline, repeats } = given;
  const causes = new Set(ways.flatMap((way) => (way.kind === "missing" ? [way.cause] : [])));
  const valid = attempts.filter((_, index) => ways[index]!.kind === "valid");
  const observed = equalSubmissions(valid).filter(
    (equal) => !repeats.some((same) => same.includes(equal[0]!)),
  );
  return [
    ...(given.isPerson && found.measured < peopleMin
      ? [`fewer than ${peopleMin} people: no test and no rank`]
      : []),
    ...withheldTexts(found),
    ...[...causes].map((cause) => `not measured: ${cause}`),
    ...attempts.flatMap(({ seed, note }) => (note === "" ? [] : [`seed ${seed}: ${note}`])),
    ...importedTexts(attempts),
    ...(baseline.kind === "unavailable" ? [baseline.why] : []),
    ...attempts.flatMap((attempt, index) =>
      belowText(attempt, { way: ways[index]!, counted: found.counted[index]!, metric }),
    ),
    ...given.implausible.map(implausibleText),
    ...(given.primary ? attempts.flatMap(memorisedText) : []),
    ...repeats.map(repeatedText),
    ...observed.map((equal) => identicalText(equal, found.planned)),
  ];
}

/** Why there is no mean or no interval; empty where the causes of missing attempts explain it. */
function withheldTexts(found: IntentionToTreat): string[] {
  if (found.mean.kind === "none" && found.mean.why === "nothing-measured") return [];
  return [...noMeanTexts(found), ...noIntervalTexts(found)];
}

function noMeanTexts({ mean, failed }: IntentionToTreat): string[] {
  if (mean.kind === "mean" || mean.why === "nothing-measured") return [];
  if (mean.why === "out-of-range") return ["no mean: the values are too large"];
  const count = failed.disqualified + failed.rejected;
  const attempts = count === 1 ? "1 attempt" : `${count} attempts`;
  return [`no mean: ${attempts} would be scored at the trivial baseline, which is unknown`];
}

function noIntervalTexts({ planned, measured, valid }: IntentionToTreat): string[] {
  const { interval } = valid;
  if (interval.kind === "interval") return [];
  const ofValid = (why: string) => [`no interval of the valid mean: ${why}`];
  const texts: Record<typeof interval.why, string[]> = {
    "too-many-missing": [
      `no intervals: ${planned - measured} of ${planned} attempts are missing (at most 20 % may be)`,
    ],
    repeated: ["no intervals and no test over attempts: equal attempts are one observation"],
    "one-value": ofValid("a spread needs two attempts"),
    "no-spread": ofValid("these attempts count with the same value"),
    "out-of-range": ofValid("the values are too large"),
    "no-values": [],
  };
  return texts[interval.why];
}

function belowText(
  { seed, scores }: Attempt,
  { way, counted, metric }: { way: Counting; counted: number | null; metric: Metric },
): string[] {
  if (way.kind !== "valid" || way.value === counted) return [];
  const value = sentenceNumber(metric, way.value, scoreError(scores[metric.name]));
  return [`seed ${seed}: ${value} is worse than the trivial baseline and counts as the baseline`];
}

function implausibleText({ seed, row, standardErrors }: Cell["implausible"][number]): string {
  const distance = standardErrors === null ? "without any error" : digitsText(standardErrors, 1);
  return (
    `seed ${seed}: implausible, better than each reference model of at most twice its size by more than 5 standard ` +
    `errors (${distance} from ${row}). Check whether it has seen the test data; no number was changed.`
  );
}

/** At the task's primary metric only: the comparison is of the submission, whatever the metric. */
function memorisedText({ seed, memorisation: found }: Attempt): string[] {
  if (found?.kind !== "compared" || !found.noted) return [];
  const { difference, standardError } = found;
  return [
    `seed ${seed}: possible memorisation of the private texts: ${supportedText(difference, 3, standardError)} bits per ` +
      `byte against matched public texts (standard error ${digitsText(standardError, 3)}), see Memorisation`,
  ];
}

function importedTexts(attempts: Attempt[]): string[] {
  const byText = Map.groupBy(attempts, importedText);
  return [...byText].flatMap(([text, of]) =>
    text === "" ? [] : [`seed ${of.map(({ seed }) => seed).join(", ")}: ${text}`],
  );
}

function repeatedText(equal: Attempt[]): string {
  return `Seeds ${seedsText(equal)} are repeats without randomness: they submitted identical files.`;
}

/** The attempts stay separate observations. */
function identicalText(equal: Attempt[], planned: number): string {
  return `${equal.length} of ${planned} attempts submitted identical files: seeds ${seedsText(equal)}.`;
}

/** `1, 2 and 3`. */
function seedsText(equal: Attempt[]): string {
  return listText(equal.map(({ seed }) => String(seed)));
}
