// The benchmark of one task with one seed, killed repeatedly at random times. Kills at every system call are in
// sweep.thorough.test.ts, kills of tiny runs in crash.e2e.test.ts.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Times } from "@mlrb/formats/times";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { copyBenchmarkState, oneTask, oneTaskArguments } from "./support/benchmark-state.ts";
import { indexVariables } from "./support/demonstration/play.ts";
import { recordsIn } from "./support/end-state.ts";
import { shareEnvironments } from "./support/environments.ts";
import { filesBelow, leftovers } from "./support/lab.ts";
import { randomKills } from "./support/random-kills.ts";
import { type Line, startProgram } from "./support/run-program.ts";
import { stagePrograms } from "./support/sandboxes/stage-programs.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

test("after three random kills of runner, stage or both, the tables are the same and no recorded attempt is repeated", {
  skip: process.platform === "linux" ? false : "stages can be found among the processes on Linux only",
  timeout: 60 * 60_000,
}, async (t) => {
  const killed = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-kills-")));
  t.after(() => removeFolder(killed));
  shareEnvironments(killed);
  const clean = join(repository.path, "clean");
  await copyBenchmarkState(clean);
  const selection = `smoke+seed=1,task=${oneTask}`;
  const start = (root: string) =>
    startProgram(repository.path, [...oneTaskArguments, "--set", "seed=1", "--root", root], {
      env: indexVariables(),
    });
  const undisturbed = await start(clean).ended;
  assert.equal(undisturbed.code, 0, undisturbed.stdout + undisturbed.stderr);
  const { attempts } = JSON.parse(
    readFileSync(join(clean, "results/full-benchmark", selection, "report.json"), "utf8"),
  ) as Line;
  const { story, said } = await randomKills({
    root: killed,
    start: () => start(killed),
    kills: 3,
    attempts: attempts.length,
  });
  t.diagnostic(story.join("; "));
  const hint = `${story.join("\n")}\n${said.stdout}${said.stderr}`;
  assert.equal(said.code, 0, hint);
  const keys = recordsIn(killed).map(({ record }) => record.attemptKey);
  assert.equal(keys.length, attempts.length, hint);
  assert.equal(new Set(keys).size, keys.length, hint);
  const tables = (from: string) => {
    const files = filesBelow(join(from, "results/full-benchmark", selection));
    const clockless = (name: string) =>
      !/^(times|costs)\.|^(tables\/cost\.tex|figures\/cost\.pdf)$/.test(name) && name !== "report.html";
    const { attempts } = JSON.parse(
      readFileSync(join(from, "results/full-benchmark", selection, "times.json"), "utf8"),
    ) as Times;
    const costs = attempts.map(({ tokens, dollars, gpuHours }) => [tokens, dollars, gpuHours]);
    return { costs, ...Object.fromEntries(Object.entries(files).filter(([name]) => clockless(name))) };
  };
  assert.ok("report.json" in tables(killed), hint);
  assert.deepEqual(tables(killed), tables(clean), hint);
  assert.deepEqual(leftovers({ root: killed }), [], hint);
  assert.deepEqual(stagePrograms(killed), [], hint);
});
