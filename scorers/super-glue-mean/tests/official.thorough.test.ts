import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bothScores } from "../../testing/lm-eval-command.ts";

const fixtures = join(import.meta.dirname, "../fixtures/private/super_glue");

test("lm-eval's own command has the same numbers for all eight tasks", () => {
  const configs = readdirSync(fixtures).sort();
  assert.equal(configs.length, 8);
  const { ours, official } = bothScores({
    scorer: "super-glue-mean",
    folder: "super_glue",
    repository: "aps/super_glue",
    splits: "validation,train",
    tasks: "super-glue-lm-eval-v1",
    rows: Object.fromEntries(configs.map((config) => [config, rowsOf(config)])),
  });
  assert.equal(ours.kind, "scored");
  const said = (task: string, metric: string) => official[task]?.[`${metric},none`] ?? Number.NaN;
  const expected: Record<string, number> = {
    boolq: said("boolq", "acc"),
    cb: (said("cb", "acc") + said("cb", "f1")) / 2,
    copa: said("copa", "acc"),
    multirc: said("multirc", "acc"),
    record: (said("record", "f1") + said("record", "em")) / 2,
    rte: said("sglue_rte", "acc"),
    wic: said("wic", "acc"),
    "wsc.fixed": said("wsc", "acc"),
  };
  for (const config of configs) {
    const difference = Math.abs((ours.groups[config]?.value ?? Number.NaN) - (expected[config] ?? 0));
    assert.ok(difference < 1e-12, `${config}: ${ours.groups[config]?.value}, lm-eval ${expected[config]}`);
  }
  const mean = Object.values(expected).reduce((sum, value) => sum + value, 0) / configs.length;
  assert.ok(Math.abs(ours.value - mean) < 1e-12);
  assert.equal(ours.extra["corrected.multirc"], 1 - said("multirc", "acc"));
  const found = new Set(Object.values(expected));
  assert.ok(found.size > 3, "too many tasks have the same number: nothing was compared");
});

function rowsOf(config: string): object[] {
  const text = readFileSync(join(fixtures, config, "validation.jsonl"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
}
