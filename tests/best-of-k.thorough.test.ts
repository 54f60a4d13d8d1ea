// The best of two with scripted agents: public rows are scored, the report has the section and charges the scoring.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { mustFollow } from "@mlrb/formats/read-format";
import { report as reportFormat } from "@mlrb/formats/report";
import { times } from "@mlrb/formats/times";
import { readJson } from "@mlrb/kit/json-file";
import { shareEnvironments } from "./support/environments.ts";
import { startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

test("the best of two in smoke", async (t) => {
  const repository = throwAwayRepository();
  t.after(() => repository.remove());
  const root = join(repository.path, "root");
  shareEnvironments(root);
  const set = ["task=llm-merging", "agent=script-weak", "seed=1,2"].flatMap((one) => ["--set", one]);
  const ran = await startProgram(repository.path, ["run", "best-of-k", ...set, "--root", root]).ended;
  assert.equal(ran.code, 0, ran.stdout + ran.stderr);
  const [file] = globSync("results/best-of-k/*/report.json", { cwd: root });
  const folder = dirname(join(root, file!));
  const { bestOf, attempts } = mustFollow(reportFormat, readJson(join(folder, "report.json")), "report.json");
  const [one, two, five] = bestOf!.cells;
  assert.deepEqual(
    two!.groups.map(({ seeds, by, dev, chosen }) => ({ seeds, by, dev, chosen })),
    [{ seeds: [1, 2], by: "dev", dev: [0.5, 0.5], chosen: 1 }],
    "equal attempts have equal scores on public rows, and the first is chosen",
  );
  assert.equal(two!.mean, (attempts[0]!.scores["worst-domain"] as { value: number }).value);
  assert.deepEqual([one!.n, one!.successes, five!.groups.length, five!.leftOut], [2, 0, 0, 2]);
  assert.match(readFileSync(join(folder, "report.md"), "utf8"), /chosen by worst-domain on public rows/);
  const taken = mustFollow(times, readJson(join(folder, "times.json")), "times.json");
  assert.ok(taken.attempts.every(({ devSeconds = 0 }) => devSeconds > 0));
  assert.match(readFileSync(join(folder, "costs.md"), "utf8"), /public rows, s/);
});
