// Loads every case of the hostile corpus that harms only a loader, without admission and the clean folder in front: the
// load check alone must contain it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { writeCase } from "@mlrb/kit/admission/testing/hostile-case";
import { hostileBombs } from "@mlrb/kit/admission/testing/hostile-configs";
import { hostileCorpus } from "@mlrb/kit/admission/testing/hostile-corpus";
import { pythonPath } from "@mlrb/kit/python-path";
import { testPython } from "../../testing/submissions.ts";

const root = mkdtempSync(join(tmpdir(), "hostile-loads-"));
after(() => rmSync(root, { recursive: true, force: true }));

const gib = 2 ** 30;
type Loaded = { case: string; end: string; peak: number };

function loadAll(folders: string[]): Loaded[] {
  const repository = resolve(import.meta.dirname, "../../..");
  const done = spawnSync(testPython(), [join(import.meta.dirname, "load_folders.py")], {
    input: folders.map((folder) => `${folder}\n`).join(""),
    encoding: "utf8",
    env: { ...process.env, PYTHONPATH: pythonPath(repository), PYTHONDONTWRITEBYTECODE: "1" },
    maxBuffer: 1 << 26,
  });
  assert.equal(done.status, 0, done.stderr.slice(-4000));
  return done.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

test("every loading bomb ends as admitted or rejected within 3 GiB, and the worst are rejected", () => {
  const cases = [...hostileCorpus.filter(({ explodes, large }) => explodes && !large), ...hostileBombs];
  const folders = [...new Map(cases.map((one) => [one.name, one])).values()]
    .map((one) => writeCase(root, one))
    .filter(({ skipped }) => skipped === undefined)
    .map(({ folder }) => folder);
  assert.ok(folders.length > 50, `${folders.length} cases`);
  const loaded = loadAll(folders);
  assert.equal(loaded.length, folders.length);
  for (const { case: name, end, peak } of loaded) {
    assert.match(end, /^(admitted|rejected: )/, name);
    assert.ok(peak < 3 * gib, `${name}: ${peak}`);
  }
  const endOf = (name: string) => loaded.find((one) => one.case === name)?.end;
  for (const name of [
    "config-num-labels-1e9",
    "config-bart-decoder-layers",
    "config-gpt-neo-attention-types",
  ])
    assert.match(endOf(name) ?? "", /^rejected: needs more than/, name);
  assert.match(
    endOf("tokenizer-replace-doubles-40-times") ?? "",
    /^rejected: tokenizer\.json: its normalizer/,
  );
});
