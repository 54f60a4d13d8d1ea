// Two runs on one machine, as their journals, the cache and the published results show them.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mock, type TestContext } from "node:test";
import type { Plan } from "@mlrb/core/plan/plan";
import type { Report } from "@mlrb/formats/report";
import type { KeyParts } from "@mlrb/formats/stage/action";
import { type Home, home, smallPlan } from "@mlrb/local/testing/small-plan";
import { Example, passed, referenceRows, scored, textItems } from "@mlrb/report/testing/example";
import { reportAgainst } from "../against/report-against.ts";

const attemptId = "attempt[task=letters,agent=plain,seed=1]";
const dataId = "data[task=letters]";
const axes = { task: "letters", agent: "plain", seed: 1 };
const scoreId = "score[task=letters,agent=plain,seed=1,scorer=bits]";
const validateId = "validate[task=letters,agent=plain,seed=1]";

function plan(): Plan {
  const made = smallPlan(
    { name: "data", axes: { task: "letters" }, gives: { private: "dir" } },
    { name: "attempt", axes, gives: { submission: "dir" }, durable: true },
    { name: "validate", axes, needs: { submission: `${attemptId}.submission` }, gives: { clean: "dir" } },
    {
      name: "score",
      axes: { ...axes, scorer: "bits" },
      needs: { clean: `${validateId}.clean`, private: `${dataId}.private` },
      gives: { score: "file", samples: "file" },
      action: { run: { kind: "python", file: "measure.py" } },
    },
    { name: "report", gives: { report: "dir" }, publishes: true },
  );
  made.instances.find(({ id }) => id === scoreId)!.stage.role = "score";
  return made;
}

type Ran = {
  run: string;
  level: number;
  submission?: string;
  /** Digest of the scorer's file. */
  scorer?: string;
  data?: string;
  /** Digest of the code that makes the clean folder, whose bytes follow from it and from the submission. */
  validate?: string;
  /** Whether the journal lacks the stage that made the clean folder. */
  torn?: boolean;
};

export const digest = (letter: string) => letter.repeat(64);

/** A run as its journal, the cache and the published results show it. */
export class Runs {
  readonly at: Home;
  readonly plan = plan();
  constructor(t: TestContext) {
    this.at = home(t);
  }

  add({
    run,
    level,
    submission = digest("5"),
    scorer = "1",
    data = digest("d"),
    validate = "1",
    torn = false,
  }: Ran): Report {
    const workspace = this.at.open();
    const { store, state } = workspace;
    const example = new Example();
    const gives = scored("bits", textItems(level));
    example.gives(
      "references",
      { task: "letters", scorer: "bits" },
      referenceRows("bits", [{ name: "unigram", value: 9, standardError: 0.01 }]),
    );
    example.gives("attempt", axes, { submission });
    example.gives("validate", axes, passed);
    example.gives("score", { ...axes, scorer: "bits" }, gives);
    const report = example.report();
    const file = (text: string) => ({ kind: "file" as const, digest: store.putText(text) });
    const results = join(this.at.root, "made");
    mkdirSync(results, { recursive: true });
    writeFileSync(join(results, "report.json"), JSON.stringify(report));
    const lines: object[] = [{ event: "begin", run, pipeline: "small", profile: "smoke", selection: "" }];
    const clean = digest(validate === "1" ? submission[0]! : "c");
    const put = (id: string, parts: Partial<KeyParts>, outputs: object) => {
      const key = store.putText(JSON.stringify([id, parts]));
      const codeFiles = store.putText(JSON.stringify(parts.code ?? {}));
      const where = { run, stage: id, startedAt: "", durationMs: 1, executor: "local", host: "h" };
      workspace.actions.put({
        ...{ formatVersion: 1, key, codeFiles, ran: where },
        parts: { ...wholeParts, ...parts },
        outputs: outputs as Record<string, { kind: "file"; digest: string }>,
      });
      workspace.last.put({ id, key, durationMs: 1 });
      lines.push({ event: "stage", stage: id, outcome: { kind: "succeeded" }, key });
    };
    const code = { "validate.py": digest(validate) };
    put(validateId, { code, inputs: { submission } }, { clean: { kind: "dir", digest: clean } });
    put(
      scoreId,
      {
        run: { kind: "python", file: "measure.py" },
        code: { "measure.py": digest(scorer) },
        inputs: { clean, private: data },
      },
      { score: file(JSON.stringify(gives.score)), samples: file(gives.samples) },
    );
    put("report", { params: { run } }, { report: store.put(results, "dir") });
    mkdirSync(state.journals, { recursive: true });
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const kept = torn ? text.replace(/^.*"validate\[.*\n/m, "") : text;
    writeFileSync(join(state.journals, `${run}.jsonl`), kept);
    return report;
  }

  /** Compares the last results. */
  compare(against: string, options: { json?: boolean; markdown?: boolean } = {}) {
    const said = { out: [] as string[], err: [] as string[] };
    const out = mock.method(process.stdout, "write", (text: string) => said.out.push(text) > 0);
    const err = mock.method(process.stderr, "write", (text: string) => said.err.push(text) > 0);
    const code = reportAgainst({
      ...{ plan: this.plan, workspace: this.at.open(), folder: join(this.at.root, "made"), against },
      ...{ options: { json: false, markdown: false, ...options }, run: "run it", age: ["up to date"] },
    });
    out.mock.restore();
    err.mock.restore();
    return { code, out: said.out.join(""), err: said.err.join("") };
  }
}

const wholeParts: KeyParts = {
  ...{ keyFormat: 1, run: { kind: "command", command: "x" }, code: {}, files: {}, params: {}, axes: {} },
  ...{ inputs: {}, outputs: {}, env: {}, budget: {}, environment: null, host: null },
};
