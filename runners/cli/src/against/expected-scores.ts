// `pipeline score --expect`: the new scores of a submission next to those that a report.json has for the same
// files.
import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import type { Attempt, AttemptScore } from "@mlrb/formats/report/attempt";
import { parseScore } from "@mlrb/report/read/parse-artifacts";
import type { ReportParams } from "@mlrb/report/read/report-params";
import { typedIn } from "../request/root-folder.ts";
import { oneLine, printJson, printLine } from "../show/print.ts";
import type { Measured } from "../show/print-scores.ts";
import { readReportText } from "../show/read-report.ts";

/** The attempts of a report.json, as typed. */
export function expectedAttempts(typed: string): Attempt[] | Diagnostic {
  const path = resolve(typedIn(), typed);
  const bad = (cause: string) => {
    const help =
      "name the report.json of published results, e.g. data/results/report.json of an unpacked bundle";
    return { code: "no-report", message: `${path}: ${cause}`, help };
  };
  if (!existsSync(path) || !statSync(path).isFile()) return bad("there is no such file");
  const reading = readReportText(readFileSync(path, "utf8"));
  return reading.kind === "ok"
    ? reading.value.attempts
    : bad(`it is no report of this version (${reading.cause})`);
}

/** Those that handed these files in to the task and have a score. */
export function attemptsWith(
  attempts: Attempt[],
  { task, digest }: { task: string; digest: string },
): Attempt[] | Diagnostic {
  const found = attempts.filter(
    (one) => one.task === task && one.submission === digest && measuredScores(one).length > 0,
  );
  if (found.length > 0) return found;
  return {
    code: "other-submission",
    message: `the report has no scores of these files for ${task}: their digest is ${digest}`,
    help: "give the whole folder and nothing else; `submission` in attempts.csv has the digests of the report",
  };
}

export type Compared = {
  metric: string;
  /** `host`: it differs and depends on the machine, so it is not judged. */
  kind: "equal" | "different" | "host" | "not-measured";
  words: string;
};

/** Prints each score next to the expected one. Returns 0, or 1 if one differs or was not measured. */
export function printExpected(
  attempts: Attempt[],
  { params, measured, json }: { params: ReportParams; measured: Measured[]; json: boolean },
): 0 | 1 {
  let code: 0 | 1 = 0;
  for (const attempt of attempts) {
    const { agent, seed } = attempt;
    if (!json) process.stdout.write(`\n${oneLine(`Expected of ${agent}, seed ${seed}:`)}\n`);
    for (const [metric, expected] of measuredScores(attempt)) {
      const one = comparedScore(metric, { expected, params, measured });
      if (one.kind === "different" || one.kind === "not-measured") code = 1;
      if (json) printJson({ event: "expected", agent, seed, ...one });
      else printLine(`  ${metric}: ${one.words}`);
    }
  }
  return code;
}

function measuredScores({ scores }: Attempt): [string, AttemptScore][] {
  return Object.entries(scores).filter(([, { kind }]) => kind !== "not-measured");
}

function comparedScore(
  metric: string,
  { expected, params, measured }: { expected: AttemptScore; params: ReportParams; measured: Measured[] },
): Compared {
  const made = measured.find(
    ({ instance }) => instance.stage.role === "score" && instance.axes.scorer === metric,
  );
  const missing = (why: string) => ({ metric, kind: "not-measured", words: `not measured: ${why}` }) as const;
  if (!made) return missing("this repository has no such scorer for the task");
  if (made.texts.score === undefined) return missing(made.cause || "no score");
  const reading = parseScore(made.texts.score, params.metric(metric));
  if (reading.kind !== "ok") return missing(reading.cause);
  return judged(metric, { expected, found: reading.value, host: made.instance.action.hostSensitive });
}

export function judged(
  metric: string,
  { expected, found, host }: { expected: AttemptScore; found: AttemptScore; host: boolean },
): Compared {
  const [before, now] = [scoreWords(expected), scoreWords(found)];
  if (before === now) return { metric, kind: "equal", words: `${now}, equal` };
  const both = `${before} expected, ${now} now`;
  if (expected.kind !== "scored" || found.kind !== "scored")
    return { metric, kind: "different", words: `${both}: different` };
  const difference = found.value - expected.value;
  const words = `${both} (${difference > 0 ? "+" : ""}${Number(difference.toPrecision(3))})`;
  return host
    ? { metric, kind: "host", words: `${words}, not judged: it depends on the machine` }
    : { metric, kind: "different", words: `${words}: different` };
}

/** Equal numbers have equal words. */
function scoreWords(score: AttemptScore): string {
  return score.kind === "scored" ? String(score.value) : score.kind;
}
