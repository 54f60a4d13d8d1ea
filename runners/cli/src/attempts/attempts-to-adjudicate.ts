// `pipeline attempts adjudicate --judged`: the attempts that judges marked, among others, for a person who reads them
// without knowing which is which. So it prints no agent, seed, score, verdict, judge or mark, and names the extract that
// judges read: it has no names either.
import { hash } from "node:crypto";
import { manifestNames, readManifest } from "@mlrb/core/spec/manifest";
import { counted } from "@mlrb/core/text/counted";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import type { HeldRecord } from "@mlrb/local/records/attempt-records";
import { Contents } from "@mlrb/local/store/content-store";
import { byPerson } from "@mlrb/report/judged/decided-marks";
import { attemptPlace } from "../request/find-attempt.ts";
import { refuse, refused } from "../request/refuse.ts";
import type { PlaceOptions } from "../request/root-folder.ts";
import { printJson, printLine } from "../show/print.ts";
import { readReport } from "../show/read-report.ts";
import { reportsOf } from "./attempt-scores.ts";

type Place = { task: string; agent: string; seed: number | string };

export type JudgedOptions = PlaceOptions & { judged: string; profile?: string };

export function attemptsToAdjudicate(repository: string, options: JudgedOptions): number {
  const { judged: pipeline, profile, json } = options;
  const { state, records } = attemptPlace(repository, options.root);
  const [path] = reportsOf(state.results, { pipeline, profile });
  const reading = path === undefined ? { cause: "none is published" } : readReport(path);
  if (!("value" in reading))
    return refused(`no-report: of ${pipeline}: ${reading.cause}`, "run it, or name another one or a profile");
  const { rules: questions, problems } = markingQuestions(repository);
  if (problems.length > 0) return refuse(problems, json);
  // of equal submissions the first is used: that of this pipeline, and there the current one
  const rank = ({ digest, record: { slot } }: HeldRecord) =>
    (slot.pipeline === pipeline ? 0 : 2) + (records.currentIn(slot) === digest ? 0 : 1);
  const held = records.readable().sort((a, b) => rank(a) - rank(b));
  const contents = new Contents(state.blobs);
  const placeOf = ({ task, agent, seed }: Place) => [task, agent, seed].join();
  const answersAt = Map.groupBy(reading.value.judged?.attempts ?? [], placeOf);
  // where no judge answered, nothing is to decide
  const judged = reading.value.attempts.filter(
    (one) => one.submission !== null && answersAt.has(placeOf(one)),
  );
  const known = judged.flatMap(({ submission, marks = [], ...place }) => {
    const wanted = `${placeOf(place)},${submission}`;
    const found = held.find(
      ({ record: { axes, outputs } }) =>
        [axes.task, axes.agent, axes.seed, outputs.submission?.digest].join() === wanted,
    );
    const digests = answersAt.get(placeOf(place))!.map(({ answers }) => answers.extract);
    const extract = digests.find((digest) => contents.has(digest));
    // an attempt that only a person marked was among the others
    return found ? { ...found, extract, isMarked: marks.some(({ judge }) => judge !== byPerson) } : [];
  });
  const drawn = blindDraw(known).map(({ digest: record, record: { axes }, extract, decisions = [] }) => ({
    ...{ event: "attempt-to-adjudicate", record, task: axes.task, questions },
    decided: questions.filter((one) => decisions.some(({ rule, counts }) => counts && rule === one)),
    extract: extract === undefined ? null : contents.pathOf(extract),
  }));
  if (json) for (const one of drawn) printJson(one);
  if (json) return 0;
  for (const { record, task, decided, extract } of drawn) {
    const head = `${record.slice(0, 12)}  ${task}  ${extract ?? "no extract here"}`;
    printLine([head, ...decided].join("; decided: "));
  }
  const lost = judged.length - known.length;
  if (lost > 0) printLine(`${counted(lost, "attempt")} of the report without a record here`);
  printLine(`${counted(drawn.length, "attempt")}; decide on each: ${questions.join(", ") || "nothing"}`);
  printLine(
    "read with: jq -r '.events[] | \"[\\(.number)] \\(.kind): \\(.text)\"' FILE; other commands name the agent",
  );
  return 0;
}

/** RUBRIC.QUESTION of every question whose answers can mark an attempt; and the problems of unsound rubrics. */
export function markingQuestions(repository: string): { rules: string[]; problems: Diagnostic[] } {
  const sources = sourceFiles(repository);
  const read = manifestNames("rubric", sources).map((name) => readManifest("rubric", name, sources)!);
  const sound = read.flatMap((one) => (Array.isArray(one) ? [] : one.value));
  const rules = sound.flatMap(({ name, questions }) =>
    questions
      .filter(({ marks = [] }) => marks.length > 0)
      .flatMap(({ id, parts }) => parts?.map((part) => `${id}.${part}`) ?? id)
      .map((id) => `${name}.${id}`),
  );
  return { rules, problems: read.filter(Array.isArray).flat() };
}

/**
 * All marked records and a tenth of the others, at least five. Digests cover times, so nobody chooses their order;
 * the draw has another order than the list, which would otherwise begin with the drawn.
 */
export function blindDraw<One extends { digest: string; isMarked: boolean }>(records: readonly One[]): One[] {
  const place = ({ digest }: One) => hash("sha256", `drawn for a person: ${digest}`);
  const others = records.filter(({ isMarked }) => !isMarked).sort((a, b) => (place(a) < place(b) ? -1 : 1));
  const left = new Set(others.slice(Math.max(5, Math.ceil(others.length / 10))));
  return records.filter((one) => !left.has(one)).sort((a, b) => (a.digest < b.digest ? -1 : 1));
}
