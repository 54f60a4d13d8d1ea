// The contract of every task, new ones included: each folder with a task.yaml is tested.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, describe, test } from "node:test";
import { taskManifest } from "@mlrb/formats/declared/task";
import { references as referencesFormat } from "@mlrb/formats/judged/references";
import { mustFollow } from "@mlrb/formats/read-format";
import { readJson } from "@mlrb/kit/json-file";
import { ruleProblems } from "@mlrb/kit/rules/rule-methods";
import { rulesOn } from "@mlrb/kit/rules/rules-on";
import { YAML } from "zx";
import { referenceRows, runScorerScript, scorerManifest, stageFlags } from "../scorers/testing/measure.ts";

const repository = join(import.meta.dirname, "..");
const tasks = readdirSync(import.meta.dirname).filter((name) =>
  existsSync(join(import.meta.dirname, name, "task.yaml")),
);
const temporary = mkdtempSync(join(tmpdir(), "mlrb-tasks-"));
after(() => rmSync(temporary, { recursive: true }));

for (const task of tasks) {
  describe(`task ${task}`, () => {
    const folder = join(import.meta.dirname, task);
    const manifest = mustFollow(
      taskManifest,
      YAML.parse(readFileSync(join(folder, "task.yaml"), "utf8")),
      join(folder, "task.yaml"),
    );
    const [first, second] = [join(temporary, task, "first"), join(temporary, task, "second")];
    before(() => {
      const east = { TZ: "Asia/Tokyo", LC_ALL: "tr_TR.UTF-8", LANG: "tr_TR.UTF-8" };
      for (const [at, env] of [
        [first, {}],
        [second, east],
      ] as const) {
        const made = makeData(task, at, env);
        assert.equal(made.status, 0, made.stderr);
      }
    });

    test("is described under its folder's name, with rules that can be checked", () => {
      assert.equal(manifest.name, task);
      assert.deepEqual(ruleProblems(manifest.rules), []);
      for (const part of ["README.md", "prompt.md", "scripts/weak.py", "scripts/strong.py"])
        assert.ok(existsSync(join(folder, part)), `no ${part}`);
    });

    for (const kind of Object.keys(manifest.budget)) {
      test(`declares scorers, primary scorer, trivial baselines and sourced rules for ${kind} data`, () => {
        const [scorers, baselines] = [manifest.scorers[kind]!, manifest.baselines[kind]!];
        assert.ok(scorers.includes(manifest.primary[kind]!), "the primary scorer is not among its scorers");
        for (const scorer of scorers) {
          assert.equal(scorerManifest(scorer).name, scorer);
          assert.ok(
            scorer in baselines || scorerManifest(scorer).hostSensitive,
            `no trivial baseline for ${scorer}`,
          );
        }
        const rules = rulesOn(manifest.rules, kind);
        assert.ok(rules.length > 0, "no rule holds");
        if (kind !== "official") return;
        assert.ok("official" in (manifest.sources ?? {}), "the source of the official data is missing");
        // without a rule from the official text, limits must explain how the text was read
        if (!rules.some(({ source }) => source === "official"))
          assert.match((manifest.limits ?? []).join("\n"), /official/i);
      });

      test(`names existing and different rows as trivial baseline and reference for ${kind} data`, () => {
        const references = (manifest.references?.[kind] ?? []).map(({ name }) => name);
        const named = (table: Record<string, number | string>) =>
          Object.entries(table).filter((one): one is [string, string] => typeof one[1] === "string");
        const baselines = manifest.baselines[kind]!;
        const rows = manifest.referenceRows?.[kind] ?? {};
        for (const [scorer, row] of [...named(baselines), ...named(rows)]) {
          const names = [...rowsOnFixtures(scorer), ...references];
          assert.ok(names.includes(row), `no row "${row}" of ${scorer}: ${names.join(", ")}`);
        }
        for (const [scorer, row] of named(rows)) {
          assert.ok(scorer in baselines, `a reference row and no trivial baseline for ${scorer}`);
          assert.notEqual(baselines[scorer], row);
        }
      });

      test(`lists published numbers for ${kind} data only if the data is official`, () => {
        const published = manifest.published?.[kind];
        if (kind !== "official") assert.equal(published, undefined, "smoke data is no published benchmark");
        for (const { source } of Object.values(published ?? {}).flat()) assert.match(source, /arXiv:|https:/);
      });
    }

    test("declares scores, rules and budgets for the same kinds of data, smoke included", () => {
      const kinds = Object.keys(manifest.scorers).sort();
      assert.ok(kinds.includes("smoke"));
      const { primary, baselines, budget, references, referenceRows } = manifest;
      for (const table of [primary, baselines, budget, references, referenceRows].filter(
        (each) => each !== undefined,
      ))
        assert.deepEqual(Object.keys(table).sort(), kinds);
    });

    test("has a prompt with deadline, budget, seed, submission folder, rules and scores", () => {
      const prompt = readFileSync(join(folder, "prompt.md"), "utf8");
      for (const blank of ["{{deadline}}", "{{budget}}", "{{seed}}"])
        assert.ok(prompt.includes(blank), `the prompt lacks ${blank}`);
      for (const word of [
        "MLRB_DEADLINE",
        "MLRB_SUBMISSION",
        "provenance.json",
        "iterations.jsonl",
        "## Rules",
      ])
        assert.ok(prompt.includes(word), `the prompt lacks ${word}`);
      const { title } = scorerManifest(manifest.primary.smoke!); // official data comes with the official prompt
      assert.ok(prompt.toLowerCase().includes(title.toLowerCase()), `the prompt does not name ${title}`);
    });

    test("makes the same bytes of data in every time zone and language", () => {
      assert.deepEqual(filesBelow(first), filesBelow(second));
      assert.ok(existsSync(join(first, "public/README.md")), "the public data has no README");
    });

    test("has no private row in its public data", () => {
      const open = Object.values(filesBelow(join(first, "public"))).join("\n");
      const hidden = Object.entries(filesBelow(join(first, "private")));
      for (const [name, text] of hidden) {
        if (!name.endsWith(".jsonl")) continue;
        for (const line of text.trimEnd().split("\n"))
          for (const value of texts(JSON.parse(line))) {
            if (value.length < 40) continue; // a word or a name may occur anywhere
            assert.ok(!open.includes(JSON.stringify(value).slice(1, -1)), `${name}: ${value.slice(0, 80)}`);
          }
      }
      assert.ok(hidden.length > 0);
    });

    test("refuses an unknown source and names the known one", () => {
      const made = makeData(task, join(temporary, task, "other"), {}, "nonsense");
      assert.notEqual(made.status, 0);
      assert.match(made.stderr, new RegExp(`${task}: no data for source "nonsense".*smoke`, "s"));
    });

    for (const scorer of manifest.scorers.smoke!) {
      test(`has private data that ${scorer} can read, and its trivial baseline`, () => {
        const models = join(temporary, task, `models-${scorer}`);
        mkdirSync(models, { recursive: true });
        writeFileSync(join(models, "titles.json"), "{}");
        const rows = join(temporary, task, `${scorer}.json`);
        const input = {
          public: join(first, "public"),
          private: join(first, "private"),
          models,
          answers: models,
        };
        const ran = runScorerScript(
          scorer,
          "references.py",
          stageFlags({ param: {}, input, output: { rows } }),
        );
        assert.equal(ran.status, 0, ran.stdout + ran.stderr);
        const names = mustFollow(referencesFormat, readJson(rows), rows).rows.map(({ name }) => name);
        const references = (manifest.references?.smoke ?? []).map(({ name }) => name);
        const baseline = manifest.baselines.smoke![scorer];
        if (typeof baseline === "string")
          assert.ok(
            [...names, ...references].includes(baseline),
            `no row "${baseline}": ${names.join(", ")}`,
          );
      });
    }
  });
}

const rowsSeen = new Map<string, string[]>();

/** The names of the rows of a scorer's references.py on the scorer's fixtures. */
function rowsOnFixtures(scorer: string): string[] {
  const seen = rowsSeen.get(scorer);
  if (seen) return seen;
  const { rows } = referenceRows(scorer, join(temporary, `rows-${scorer}`), {});
  const names = rows.map(({ name }) => name);
  rowsSeen.set(scorer, names);
  return names;
}

function makeData(task: string, folder: string, env: Record<string, string>, source = "smoke") {
  for (const kind of ["public", "private"]) mkdirSync(join(folder, kind), { recursive: true });
  const output = { public: join(folder, "public"), private: join(folder, "private") };
  const flags = stageFlags({ param: { source }, input: {}, output });
  const script = join(import.meta.dirname, task, "data.ts");
  return spawnSync(process.execPath, [script, ...flags], {
    cwd: repository,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
}

function filesBelow(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [relative(folder, path), readFileSync(path, "utf8")]),
  );
}

function texts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(texts) : [];
}
