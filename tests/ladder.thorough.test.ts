// The ladder with scripted agents: agents are told of their level, and the report has its curves. It continues from
// the benchmark of one task.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mustFollow } from "@mlrb/formats/read-format";
import { report as reportFormat } from "@mlrb/formats/report";
import { readJson } from "@mlrb/kit/json-file";
import { copyBenchmarkState } from "./support/benchmark-state.ts";
import { indexVariables } from "./support/demonstration/play.ts";
import { recordsIn } from "./support/end-state.ts";
import { outcomes } from "./support/lab.ts";
import { startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

test("levels of time, data and help in smoke, next to the benchmark's own attempt at the whole task", async (t) => {
  const repository = throwAwayRepository();
  t.after(() => repository.remove());
  const root = join(repository.path, "root");
  await copyBenchmarkState(root);
  const run = async (levels: string, ...more: string[]) => {
    const set = ["task=baby-lm", "agent=script-weak", "seed=1", `level=${levels}`];
    const words = ["run", "ladder", "--json", ...set.flatMap((one) => ["--set", one]), ...more];
    const said = await startProgram(repository.path, [...words, "--root", root], { env: indexVariables() })
      .ended;
    assert.equal(said.code, 0, said.stdout + said.stderr);
    const attempts = Object.entries(outcomes(said)).filter(([stage]) => stage.startsWith("attempt["));
    const ended = attempts.map(([stage, outcome]) => [/task=([^,]+)/.exec(stage)![1], outcome]);
    return { said, attempts: Object.fromEntries(ended) };
  };
  const data = await run("data-quarter", "--only", "attempt"); // judged and scored as the others
  assert.deepEqual(data.attempts, { "baby-lm@data-quarter": "succeeded" });
  const { said: ran, attempts } = await run("time-24th,report,whole");
  assert.deepEqual(attempts, {
    "baby-lm": "reused",
    ...{ "baby-lm@time-24th": "succeeded", "baby-lm@report": "succeeded" },
  });
  const { results } = ran.lines.findLast(({ event }) => event === "summary")!;
  const { ladder, acrossTasks } = mustFollow(
    reportFormat,
    readJson(join(root, results, "report.json")),
    "report.json",
  );
  assert.deepEqual(
    ladder!.curves.map(({ of, points }) => [of, points.map(({ level, n }) => `${level} ${n}`)]),
    [
      ["help", ["report 1", "whole 1"]],
      ["time", ["whole 1", "time-24th 1"]],
    ],
  );
  assert.deepEqual(
    acrossTasks.tasks.map(({ task }) => task),
    ["baby-lm"],
  );
  const prompts = recordsIn(root).flatMap(({ record, digest }) => {
    const { agent, seed } = record.axes as { agent: string; seed: number };
    if (agent !== "script-weak" || seed !== 1) return [];
    const events = readFileSync(join(root, ".mlrb/attempts/records", digest, "trajectory.jsonl"), "utf8");
    return [JSON.parse(events.split("\n")[0]!).promptTemplateDigest as string];
  });
  assert.equal(prompts.length, 4);
  assert.equal(new Set(prompts).size, 4, "each level has its own text");
});
