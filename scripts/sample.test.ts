// Checks what the repository keeps of two runs. The smoke run shows that the tasks measure: `script-strong` clearly
// beats `script-weak` on every primary metric, and untrained models have their expected order. The sample shows every
// table of authored recordings. The READMEs of the tasks must have the smoke run's numbers.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { mustFollow } from "@mlrb/formats/read-format";
import { type Report, report as reportFormat } from "@mlrb/formats/report";
import { readJson } from "@mlrb/kit/json-file";
import { comparisonError } from "@mlrb/report/compare/comparisons";
import { csvFiles } from "@mlrb/report/formats/csv-files";
import { figureFile, paperFiles } from "@mlrb/report/formats/latex";
import { forestFigure } from "@mlrb/report/paper/forest-figure";
import { overTimeFigure } from "@mlrb/report/paper/over-time-figure";
import { sampleBlock, sampleFolder, smokeFolder, withBlock } from "./sample-block.ts";

const repository = join(import.meta.dirname, "..");
const reportIn = (folder: string) =>
  mustFollow(reportFormat, readJson(join(repository, folder, "report.json")), "report.json");
const report = reportIn(smokeFolder);
const sample = reportIn(sampleFolder);

/** The committed sample's files that its report.json decides, by path. Costs and times come from ledgers. */
async function sampleFiles(report: Report): Promise<Record<string, string | Buffer>> {
  const tables = Object.entries(paperFiles(report)).map(([name, text]) => [`tables/${name}`, text]);
  const figures = { scores: await forestFigure(report), "over-time": await overTimeFigure(report) };
  return {
    ...csvFiles(report),
    ...Object.fromEntries(tables),
    ...Object.fromEntries(
      (["scores", "over-time"] as const).flatMap((name) => {
        const pdf = figures[name];
        if (!pdf) return [];
        return [
          [`figures/${name}.pdf`, pdf],
          [`figures/${name}.tex`, figureFile(report, name)],
        ];
      }),
    ),
  };
}

/** For each task's primary metric, agents' means and rows from worst to best. Equal neighbours are allowed. */
const orders: Record<string, string[]> = {
  "baby-lm": ["random-weights", "unigram", "script-weak", "script-strong", "bigram"],
  "mini-pile": ["random-weights", "unigram", "script-weak", "script-strong", "bigram"],
  "edge-llm-training": ["random-weights", "unigram", "script-weak", "script-strong"],
  "edge-llm-compression": ["unigram", "script-weak", "bigram", "script-strong", "identity"],
  "llm-efficiency": ["base", "script-strong"],
  "llm-merging": ["astronomy-expert", "script-strong"],
  "math-reasoning": ["empty", "script-weak", "script-strong", "slot-filling", "gold-proofs"],
};

test("the smoke run is complete: all tasks and scores, and no attempt broke a rule", () => {
  assert.deepEqual(report.tasks.map(({ name }) => name).sort(), Object.keys(orders).sort());
  const { attempts, scores, gaps } = report.coverage;
  assert.deepEqual(gaps, []);
  assert.deepEqual([attempts.pass, attempts.undecided, attempts.disqualified], [24, 0, 0]);
  assert.equal(scores.scored, scores.planned);
  assert.equal(report.label, "smoke");
});

test("the sample has every CSV file, table and figure that its report.json gives, and each says that no model was called", async () => {
  for (const [name, content] of Object.entries(await sampleFiles(sample))) {
    const held = readFileSync(join(repository, sampleFolder, name));
    assert.ok(held.equals(Buffer.from(content)), `${name}: run scripts/update-sample.ts`);
    if (!name.endsWith(".pdf")) assert.match(held.toString(), /no model was called/, name);
  }
  const others = ["figures/cost.tex", "tables/cost.tex", "report.md", "groups.md"];
  for (const name of others)
    assert.match(readFileSync(join(repository, sampleFolder, name), "utf8"), /no model was called/, name);
});

test("every row of the sample's CSV files says that no model was called", () => {
  for (const name of globSync("*.csv", { cwd: join(repository, sampleFolder) })) {
    const [, ...rows] = readFileSync(join(repository, sampleFolder, name), "utf8")
      .trimEnd()
      .split("\n");
    assert.ok(rows.length > 1 && rows.every((row) => row.includes("no model was called")), name);
  }
});

const pdftotext = spawnSync("pdftotext", ["-v"]).status === 0;
test("every figure of the sample says in its picture that no model was called", {
  skip: pdftotext ? false : "needs pdftotext of poppler-utils",
}, () => {
  const figures = globSync("figures/*.pdf", { cwd: join(repository, sampleFolder) });
  assert.deepEqual(figures.sort(), ["figures/cost.pdf", "figures/over-time.pdf", "figures/scores.pdf"]);
  for (const name of figures) {
    const text = execFileSync("pdftotext", [join(repository, sampleFolder, name), "-"], { encoding: "utf8" });
    assert.match(text, /authored recordings, no model was called/, name);
  }
});

test("the sample is whole, and shows what goes wrong: a training that diverged, data that the task does not give, and a model that looks ahead", () => {
  assert.equal(sample.agents.length, 3);
  assert.equal(sample.attempts.length, 30);
  assert.ok(sample.attempts.every(({ replay }) => replay?.recording === "authored"));
  assert.deepEqual(sample.coverage.gaps, []);
  assert.deepEqual([sample.coverage.attempts.pass, sample.coverage.attempts.missing], [27, 0]);
  const placeOf = ({ task, agent, seed }: { task: string; agent: string; seed: string | number }) =>
    `${task} ${agent} ${seed}`;
  const open = sample.attempts.filter(({ verdict }) => verdict.kind === "undecided");
  assert.deepEqual(open.map(placeOf), ["baby-lm sample-c 3", "mini-pile sample-b 4"]);
  const [broken, ...others] = sample.attempts.filter(({ verdict }) => verdict.kind === "disqualified");
  assert.deepEqual([broken && placeOf(broken), others], ["mini-pile sample-b 2", []]);
  assert.ok(broken?.verdict.kind === "disqualified");
  const fails = broken.verdict.rules.filter(({ answer }) => answer === "fail");
  assert.deepEqual(
    fails.map(({ rule }) => rule),
    ["no-look-ahead"],
  );
  const lost = sample.attempts.filter(({ scores }) =>
    Object.values(scores).some(({ kind }) => kind === "rejected"),
  );
  assert.deepEqual(lost.map(placeOf), ["baby-lm sample-c 3", "mini-pile sample-b 2"]);
});

test("scores of the sample change over time, and differ between seeds", () => {
  for (const { name: task } of sample.tasks)
    for (const { name: agent } of sample.agents) {
      const own = sample.attempts.filter((one) => one.task === task && one.agent === agent);
      const finals = own
        .flatMap(({ scores }) => Object.values(scores)[0]!)
        .filter(({ kind }) => kind === "scored");
      assert.ok(new Set(finals.map((score) => score.kind === "scored" && score.value)).size >= 4);
    }
  const moving = sample.attempts.filter(({ checkpoints }) => {
    const values = checkpoints.flatMap(({ scores }) => Object.values(scores).slice(0, 1));
    return new Set(values.map((score) => JSON.stringify(score))).size >= 3;
  });
  assert.ok(moving.length >= 15, `${moving.length} attempts`);
});

test("no provider's name is in the sample or its recordings", () => {
  const words = /openai|anthropic|claude|gpt-?[345]|gemini|mistral|llama|qwen/i;
  const folders = ["docs/sample", "runners/agents/recordings/sample", "runners/agents/presets"];
  const files = folders.flatMap((folder) =>
    globSync(`${folder}/**/*.{md,json,csv,tex,yaml,py}`, { cwd: repository }).filter(
      (path) => !path.includes("presets/") || path.includes("presets/sample-"),
    ),
  );
  assert.ok(files.length > 20);
  for (const path of files) assert.doesNotMatch(readFileSync(join(repository, path), "utf8"), words, path);
});

for (const { name: task, primary } of report.tasks) {
  describe(`task ${task}`, () => {
    test("script-strong beats script-weak by more than two standard errors of the paired difference", () => {
      const found = report.comparisons.find((each) => each.task === task && each.metric === primary);
      assert.ok(found?.kind === "compared", "the agents were not compared");
      assert.equal(found.better, "script-strong");
      const error = comparisonError(found);
      assert.ok(error !== null && error > 0);
      assert.ok(Math.abs(found.difference) > 2 * error, `${found.difference} ± ${error}`);
    });

    test("no seed of script-weak is better than a seed of script-strong", () => {
      const { direction } = report.metrics.find(({ name }) => name === primary)!;
      const values = (agent: string) =>
        report.cells
          .find((cell) => cell.task === task && cell.metric === primary && cell.agent === agent)!
          .values.map((value) => (direction === "higher" ? value! : -value!));
      assert.ok(Math.max(...values("script-weak")) < Math.min(...values("script-strong")));
    });

    test("rows without training have their expected order", () => {
      const { direction } = report.metrics.find(({ name }) => name === primary)!;
      const known = new Map<string, number>([
        ...report.rows.flatMap((row): [string, number][] =>
          row.task === task && row.metric === primary && row.value !== null ? [[row.name, row.value]] : [],
        ),
        ...report.cells.flatMap((cell): [string, number][] =>
          cell.task === task && cell.metric === primary ? [[cell.agent, cell.mean!]] : [],
        ),
      ]);
      const values = orders[task]!.map((name) => {
        assert.ok(known.has(name), `${name} is missing; there are ${[...known.keys()].join(", ")}`);
        return known.get(name)! * (direction === "higher" ? 1 : -1);
      });
      for (const [at, value] of values.entries())
        if (at > 0)
          assert.ok(value >= values[at - 1]!, `${orders[task]![at]} is behind ${orders[task]![at - 1]}`);
    });

    test("its README has the sample's numbers", () => {
      const text = readFileSync(join(repository, "tasks", task, "README.md"), "utf8");
      assert.equal(text, withBlock(text, sampleBlock(report, task)), "run scripts/update-sample.ts");
    });
  });
}
