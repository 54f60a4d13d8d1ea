// What `datasets` makes of a folder is asked of the library, where MLRB_PYTHON has it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type ResultTable, resultRows } from "@mlrb/formats/report/result-tables";
import { parse } from "yaml";
import { csvFiles } from "../formats/csv-files.ts";
import { nastyExample } from "../testing/nasty-example.ts";
import { dataSetCard } from "./data-set-card.ts";

const nasty = nastyExample().report();
const files = csvFiles(nasty);
const tables = Object.keys(files).map((name) => name.replace(".csv", "") as ResultTable);
const card = dataSetCard(nasty, tables);
const front = parse(card.split("---\n")[1]!);

test("the card's front matter has a licence, each table's file and the type of each of its columns", () => {
  assert.equal(front.license, "unknown");
  assert.deepEqual(
    front.configs.map((one: { config_name: string; data_files: string }) => [
      one.config_name,
      one.data_files,
    ]),
    tables.map((name) => [name, `data/${name}.csv`]),
  );
  for (const { config_name: name, features } of front.dataset_info)
    assert.deepEqual(
      features.map((one: { name: string }) => one.name),
      Object.keys(resultRows[name as ResultTable].properties),
    );
});

test("the card repeats the warning on smoke numbers, and hostile titles end neither its front matter nor a line", () => {
  assert.match(card, /\*\*Smoke test on toy data\\?\. Do not cite these numbers/);
  const hostile = dataSetCard({ ...nasty, title: 'x"\n---\nlicense: mit\n# <b>y' }, ["summary"]);
  const parsed = parse(hostile.split("\n---\n")[0]!.slice(4));
  assert.equal(parsed.license, "unknown");
  assert.equal(parsed.pretty_name, 'x" --- license: mit # <b>y (smoke, no network)');
  assert.doesNotMatch(hostile, /^license: mit|<b>y\b(?!.*smoke)/m);
});

const python = process.env.MLRB_PYTHON;
const hasDataSets =
  python !== undefined &&
  spawnSync(python, ["-c", "import importlib.util as u, sys; sys.exit(u.find_spec('datasets') is None)"])
    .status === 0;

const program = `
import json, sys
from datasets import get_dataset_config_names, load_dataset
folder, out = sys.argv[1], {}
for name in get_dataset_config_names(folder):
    rows = load_dataset(folder, name, split="train")
    out[name] = [rows.num_rows, rows[0]]
print(json.dumps(out))
`;

test("datasets loads every table offline with its types and its missing values", {
  skip: hasDataSets ? false : "needs MLRB_PYTHON with datasets",
}, (t) => {
  const folder = mkdtempSync(join(tmpdir(), "data-set-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "set", "data"), { recursive: true });
  writeFileSync(join(folder, "set", "README.md"), card);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, "set", "data", name), text);
  const { status, stdout, stderr } = spawnSync(python!, ["-c", program, join(folder, "set")], {
    encoding: "utf8",
    env: { ...process.env, HF_HUB_OFFLINE: "1", HF_HOME: join(folder, "home"), HF_DATASETS_OFFLINE: "1" },
  });
  assert.equal(status, 0, stderr);
  const loaded = JSON.parse(stdout) as Record<string, [number, Record<string, unknown>]>;
  assert.deepEqual(Object.keys(loaded).sort(), [...tables].sort());
  const [rows, first] = loaded.summary!;
  assert.equal(rows, nasty.cells.length);
  const { mean, n, warning, mean_reason, primary } = first;
  const [cell] = nasty.cells;
  assert.deepEqual(
    [mean, n, warning, mean_reason, primary],
    [cell!.mean, cell!.measured, nasty.note, null, true],
  );
  assert.equal(loaded.attempts![1].seed, "1");
});
