// Stages after an attempt at an empty task, by the benchmark's own steps: validation, verdict, score and report.
// The scorer is a small script that reads the field `quality` of the submission's tokenizer.json.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mustFollow } from "@mlrb/formats/read-format";
import { type Report, report as reportFormat } from "@mlrb/formats/report";
import type { Lab } from "../lab.ts";

/** A safetensors file of one tensor of four zeros: eight bytes of the header's length, the header, the values. */
const header = '{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}'.padEnd(64);
/** A shell command that prints it. */
export const smallModel = `printf '\\100\\0\\0\\0\\0\\0\\0\\0${header}\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0'`;

const scorer = `
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";
const { inputs, outputs } = stage();
const { admitted, reasons } = JSON.parse(readFileSync(inputs.admission!, "utf8"));
const head = { formatVersion: 1, scorer: "quality", version: 1, unit: "share", direction: "higher" };
if (!admitted) {
  const reason = "not admitted: " + reasons.map(({ detail }: { detail: string }) => detail).join("; ");
  writeJson(outputs.score!, { ...head, kind: "rejected", reason });
} else {
  const { quality } = JSON.parse(readFileSync(join(inputs.submission!, "tokenizer.json"), "utf8"));
  const found = { value: quality, standardError: 0, items: 1, groups: {}, extra: {} };
  writeJson(outputs.score!, { ...head, kind: "scored", ...found });
}
`;

/** What each stage that scores has, whatever it scores. */
export function qualityScorer(at: Lab): Record<string, unknown> {
  return {
    keyed: ["task", "scorer"],
    script: at.script("score.ts", scorer),
    gives: { score: { file: "score.json" } },
    opens: "untrusted",
  };
}

type Judging = { title: string; budget: string; rules?: Record<string, string>[] };

/**
 * The stages `validate`, `verdict`, `grade` and `report` for an axis `scorer: [quality]`. `budget`: the attempt's
 * time. `collect` and `roles` are what the report reads in addition.
 */
export function judgedStages(
  at: Lab,
  { title, budget, rules = [] }: Judging,
  { collect = [], roles = [] }: { collect?: string[]; roles?: string[] } = {},
): Record<string, Record<string, unknown>> {
  const table = (value: unknown) => ({ empty: value });
  return {
    validate: {
      each: ["task", "agent", "seed"],
      script: "pipelines/steps/validate.ts",
      needs: ["attempt.submission", "attempt.ledger"],
      opens: "untrusted",
      gives: { admission: { file: "admission.json" }, submission: "dir" },
    },
    verdict: {
      role: "verdict",
      each: ["task", "agent", "seed"],
      script: "pipelines/steps/verdict.ts",
      needs: ["attempt.submission", "attempt.trajectory", "attempt.ledger", "validate.admission"],
      opens: "untrusted",
      params: { rules, data: "smoke" },
      budget: { time: budget },
      gives: { verdict: { file: "verdict.json" } },
    },
    // a stage may have any name: the report uses roles
    grade: {
      ...qualityScorer(at),
      role: "score",
      each: ["task", "agent", "seed", "scorer"],
      needs: ["validate.submission", "validate.admission"],
    },
    report: {
      collect: ["grade.score", "verdict.verdict", "digest(attempt.submission)", "attempt.ledger", ...collect],
      roles: ["attempt", "verdict", "score", ...roles],
      script: "pipelines/steps/report.ts",
      params: {
        title,
        label: "test",
        tasks: table("Empty"),
        primary: table("quality"),
        baselines: table({ quality: 0.1 }),
        agents: {},
        scorers: { quality: "quality" },
        units: { quality: "share" },
        directions: { quality: "higher" },
        digits: { quality: 2 },
      },
      gives: { report: "dir" },
    },
  };
}

/** The report in a folder of results. */
export function readReport(folder: string): Report {
  return mustFollow(
    reportFormat,
    JSON.parse(readFileSync(join(folder, "report.json"), "utf8")),
    "report.json",
  );
}
