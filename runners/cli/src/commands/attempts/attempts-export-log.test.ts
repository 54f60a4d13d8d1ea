import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { exportReader, readBack } from "@mlrb/report/testing/export-reader";
import { attemptsExportLog } from "./attempts-export-log.ts";

const { python, skip } = await exportReader();
const repository = join(import.meta.dirname, "../../../../..");
const kept = join(repository, "tests/fixtures/records/golden/records");

function exporting(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-export-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, ".mlrb/attempts"), { recursive: true });
  cpSync(kept, join(root, ".mlrb/attempts/records"), { recursive: true });
  const said = t.mock.method(process.stdout, "write", () => true);
  const complained = t.mock.method(process.stderr, "write", () => true);
  const words = (to: typeof said) => to.mock.calls.map(({ arguments: [text] }) => String(text)).join("");
  return {
    root,
    run(what: string, options: { format: string; output: string; profile?: string }) {
      const output = join(root, options.output);
      return attemptsExportLog(repository, [what], { ...options, output, root, json: true });
    },
    said: () => words(said),
    complained: () => words(complained),
  };
}

const listing = `
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log
logs = [read_eval_log(info) for info in list_eval_logs(sys.argv[1])]
print(json.dumps([{
    "task": log.eval.task, "status": log.status, "results": log.results.total_samples,
    "usage": {name: used.total_tokens for name, used in log.stats.model_usage.items()},
    "samples": [{"id": s.id, "epoch": s.epoch, "events": len(s.events)} for s in log.samples],
} for log in logs]))
`;

test("a pipeline's attempts are one log that Inspect's own listing finds", { skip }, (t) => {
  const { root, run, complained } = exporting(t);
  assert.equal(run("kept", { format: "inspect", output: "logs/" }), 0, complained());
  const [file, ...more] = readdirSync(join(root, "logs"));
  assert.deepEqual(more, []);
  assert.match(file!, /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\+00-00_kept_[0-9a-f]{22}\.json$/);
  // biome-ignore lint/suspicious/noExplicitAny: another program's format
  const [log, ...others] = readBack(python!, listing, [join(root, "logs")]) as any;
  assert.deepEqual(others, []);
  assert.deepEqual([log.task, log.status, log.results], ["mlrb/kept", "success", 4]);
  assert.deepEqual(
    log.samples.map(({ id, epoch }: { id: string; epoch: number }) => [id, epoch]),
    ["kept-cli", "kept-model", "kept-replay", "kept-script"].map((agent) => [`kept/${agent}/1`, 1]),
  );
  assert.ok(log.samples.every(({ events }: { events: number }) => events > 3));
});

test("one attempt in a folder gets the name of its task", (t) => {
  const { root, run } = exporting(t);
  assert.equal(run("attempt[agent=kept-cli]", { format: "inspect", output: "logs/" }), 0);
  const [file] = readdirSync(join(root, "logs"));
  assert.match(file!, /_kept_[0-9a-f]{22}\.json$/);
  const log = JSON.parse(readFileSync(join(root, "logs", file!), "utf8"));
  assert.deepEqual([log.eval.task, log.samples.length], ["mlrb/kept", 1]);
});

test("a format with one attempt per file writes a file for each attempt of a run", (t) => {
  const { root, run } = exporting(t);
  assert.equal(run("kept", { format: "atif", output: "atif" }), 0);
  const names = readdirSync(join(root, "atif"));
  assert.deepEqual(
    names.map((name) => name.replace(/_[0-9a-f]{12}\.json$/, "")),
    ["kept_kept-cli_1", "kept_kept-model_1", "kept_kept-replay_1", "kept_kept-script_1"],
  );
});

test("a single output name for several files, an unknown profile and an unknown run are refused", (t) => {
  const { root, run, complained } = exporting(t);
  assert.equal(run("kept", { format: "atif", output: "one.json" }), 2);
  assert.match(
    complained(),
    /several-files: "kept" takes 4 files of format atif\n {2}help: --output .*one\.json\//,
  );
  assert.equal(run("kept", { format: "inspect", output: "one.json", profile: "paper" }), 2);
  assert.match(complained(), /unknown-run: .*profile "paper"\n {2}help: profiles with attempts: smoke/);
  assert.equal(run("absent", { format: "inspect", output: "one.json" }), 2);
  assert.match(complained(), /unknown-attempt/);
  assert.ok(!existsSync(join(root, "one.json")));
});

test("an attempt that a run took from another pipeline is in that run's log", (t) => {
  const { root, run } = exporting(t);
  const record = readdirSync(kept)
    .map((name) => JSON.parse(readFileSync(join(kept, name, "record.json"), "utf8")))
    .find(({ axes }) => axes.agent === "kept-script");
  mkdirSync(join(root, ".mlrb/cache/last/other"), { recursive: true });
  const last = { id: record.slot.stage, key: record.attemptKey, durationMs: 1 };
  writeFileSync(join(root, ".mlrb/cache/last/other/smoke.jsonl"), `${JSON.stringify(last)}\n`);
  assert.equal(run("other", { format: "inspect", output: "one.json", profile: "smoke" }), 0);
  const log = JSON.parse(readFileSync(join(root, "one.json"), "utf8"));
  assert.deepEqual(
    log.samples.map(({ id }: { id: string }) => id),
    ["kept/kept-script/1"],
  );
});
