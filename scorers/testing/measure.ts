// Runs a scorer's scripts, each in its own process.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ScorerManifest, scorerManifest as scorerFormat } from "@mlrb/formats/declared/scorer";
import type { Admission } from "@mlrb/formats/judged/admission";
import { type References, references } from "@mlrb/formats/judged/references";
import { type Score, score } from "@mlrb/formats/judged/score";
import { mustFollow } from "@mlrb/formats/read-format";
import { readJson, writeJson } from "@mlrb/kit/json-file";
import { pythonPath } from "@mlrb/kit/python-path";
import { parse } from "yaml";
import { warmArguments } from "../../tests/support/warm-python.ts";
import { testPython } from "./submissions.ts";

const repository = resolve(import.meta.dirname, "../..");
const scorers = join(repository, "scorers");
const admitted: Admission = {
  formatVersion: 1,
  admitted: true,
  reasons: [],
  lookAhead: { verdict: "causal", detail: "as the stage causality found" },
};
/** What the stage causality says of a submission that it finds to look ahead. */
export const lookingAhead: Admission = {
  ...admitted,
  lookAhead: { verdict: "looks-ahead", detail: "as the stage causality found" },
};

export function scorerManifest(scorer: string): ScorerManifest {
  const file = join(scorers, scorer, "scorer.yaml");
  return mustFollow(scorerFormat, parse(readFileSync(file, "utf8")), file);
}

/** The private data of the scorer's fixtures. */
export function fixtures(scorer: string): string {
  return join(scorers, scorer, "fixtures/private");
}

/** The parameters that pipelines pass from scorer.yaml. */
export function measureParams(scorer: string): Record<string, unknown> {
  const { version, unit, direction, scoredText } = scorerManifest(scorer);
  return { version, unit, direction, ...(scoredText !== undefined && { scoredText }) };
}

/** As flags: `--param name=value` and so on. */
export function stageFlags(given: Record<"param" | "input" | "output", Record<string, unknown>>): string[] {
  return Object.entries(given).flatMap(([flag, values]) =>
    Object.entries(values).flatMap(([name, value]) => [`--${flag}`, `${name}=${value}`]),
  );
}

/** The stand-in that the scorer's contract names, as the command of the scorer. */
function scorerCommand(scorer: string): Record<string, string> {
  const { command } = readJson(join(scorers, scorer, "fixtures/contract.json")) as { command?: string };
  if (command === undefined) return {};
  return { MLRB_SCORER_COMMAND: `${testPython()} -I -S ${join(repository, command)}` };
}

/** The script that writes the scorer's answers, from its fixtures; undefined for a scorer that reads the model. */
export function answersScript(scorer: string): string | undefined {
  const { generate } = readJson(join(scorers, scorer, "fixtures/contract.json")) as { generate?: string };
  return generate === undefined ? undefined : resolve(scorers, "..", generate);
}

/** Makes the folder of answers for a scorer, from its fixtures; an empty folder for a scorer that reads none. */
export function makeAnswers(scorer: string, out: string, input: Record<string, string>) {
  const answers = join(out, "answers");
  mkdirSync(answers, { recursive: true });
  const script = answersScript(scorer);
  if (script === undefined) return { answers, status: 0, said: "" };
  const given = { private: fixtures(scorer), ...input };
  const ran = runPython(script, stageFlags({ param: {}, input: given, output: { answers } }));
  return { answers, status: ran.status, said: ran.stdout + ran.stderr };
}

/** Writes score.json and samples.jsonl to `out` if the program succeeds. */
export function measure(
  scorer: string,
  out: string,
  given: {
    submission: string;
    private?: string;
    admission?: Admission;
    answers?: string;
    /** Runs in a fresh process, for scorers of memory and speed. */
    fresh?: boolean;
  },
) {
  mkdirSync(out, { recursive: true });
  const files = measuredFiles(out);
  const inputs = {
    submission: given.submission,
    private: given.private ?? fixtures(scorer),
    admission: writeAdmission(out, given.admission),
  };
  const made = given.answers === undefined ? makeAnswers(scorer, out, inputs) : { answers: given.answers };
  if ("status" in made && made.status !== 0) return { ...files, ...made };
  const input = { ...inputs, answers: made.answers };
  const flags = stageFlags({ param: measureParams(scorer), input, output: files });
  const ran = runScorerScript(scorer, "measure.py", flags, given.fresh);
  return { ...files, status: ran.status, said: ran.stdout + ran.stderr };
}

export function measuredFiles(out: string) {
  return { score: join(out, "score.json"), samples: join(out, "samples.jsonl") };
}

/** The rows of references.py, with `models` (folders by name) as reference models. Throws if the script fails. */
export function referenceRows(scorer: string, out: string, models: Record<string, string>): References {
  const places = { models: join(out, "models"), public: join(fixtures(scorer), "../public") };
  mkdirSync(places.models, { recursive: true });
  for (const [name, folder] of Object.entries(models))
    cpSync(folder, join(places.models, name), { recursive: true });
  writeJson(
    join(places.models, "titles.json"),
    Object.fromEntries(
      Object.keys(models).map((name) => [
        name,
        { title: `The ${name} model`, kind: "given-model", parameters: 1 },
      ]),
    ),
  );
  if (!existsSync(places.public)) {
    places.public = join(out, "public");
    mkdirSync(places.public);
    const texts = ["The cat sat on the mat.", "A dog ran to the cat.", "The mat was red."];
    const rows = Array.from({ length: 40 }, (_, at) => ({ text: `${texts[at % 3]} ${texts[at % 2]}` }));
    writeFileSync(join(places.public, "train.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  }
  const output = { rows: join(out, "rows.json") };
  const made = makeAnswers(scorer, out, { models: places.models });
  if (made.status !== 0) throw new Error(made.said);
  const input = { ...places, answers: made.answers, private: fixtures(scorer) };
  const flags = stageFlags({ param: {}, input, output });
  const ran = runScorerScript(scorer, "references.py", flags);
  if (ran.status !== 0) throw new Error(ran.stdout + ran.stderr);
  return mustFollow(references, readJson(output.rows), output.rows);
}

/** Reads a score.json. Throws if it does not follow its format. */
export function readScore(path: string): Score {
  return mustFollow(score, readJson(path), path);
}

/** Runs measure.py or references.py. */
export function runScorerScript(scorer: string, script: string, flags: string[], fresh = false) {
  return runPython(join(scorers, scorer, script), flags, { fresh, env: scorerCommand(scorer) });
}

/** Runs a Python program of the repository, in the warm process of a suite unless `fresh`. */
export function runPython(
  script: string,
  flags: string[],
  { fresh = false, env = {} }: { fresh?: boolean; env?: Record<string, string> } = {},
) {
  const command = [script, ...flags];
  return spawnSync(testPython(), fresh ? command : warmArguments(command), {
    cwd: repository,
    encoding: "utf8",
    env: {
      ...process.env,
      PYTHONPATH: pythonPath(repository),
      PYTHONDONTWRITEBYTECODE: "1",
      OMP_NUM_THREADS: "1",
      ...env,
    },
  });
}

export function writeAdmission(folder: string, admission: Admission = admitted): string {
  const file = join(folder, "admission.json");
  writeJson(file, admission);
  return file;
}
