// The ladder with scripted agents: agents are told of their level, and the report has its curves.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mustFollow } from "@mlrb/formats/read-format";
import { report as reportFormat } from "@mlrb/formats/report";
import { readJson } from "@mlrb/kit/json-file";
import { recordsIn } from "./support/end-state.ts";
import { shareEnvironments } from "./support/environments.ts";
import { startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

test("levels of time, data and help in smoke", async (t) => {
  const repository = throwAwayRepository();
  t.after(() => repository.remove());
  const root = join(repository.path, "root");
  shareEnvironments(root);
  const set = ["task=baby-lm", "agent=script-weak", "seed=1,2", "level=time-24th,data-quarter,report,whole"];
  const flags = set.flatMap((one) => ["--set", one]);
  const ran = await startProgram(repository.path, ["run", "ladder", ...flags, "--root", root]).ended;
  assert.equal(ran.code, 0, ran.stdout + ran.stderr);
  const [file] = globSync("results/ladder/*/report.json", { cwd: root });
  const { ladder, attempts, acrossTasks } = mustFollow(
    reportFormat,
    readJson(join(root, file!)),
    "report.json",
  );
  assert.deepEqual(
    ladder!.curves.map(({ of, points }) => [of, points.map(({ level, n }) => `${level} ${n}`)]),
    [
      ["data", ["whole 2", "data-quarter 2"]],
      ["help", ["report 2", "whole 2"]],
      ["time", ["whole 2", "time-24th 2"]],
    ],
  );
  assert.equal(attempts.length, 8);
  assert.deepEqual(
    acrossTasks.tasks.map(({ task }) => task),
    ["baby-lm"],
  );
  const prompts = new Map(
    recordsIn(root).map(({ record, digest }) => {
      const events = readFileSync(join(root, ".mlrb/attempts/records", digest, "trajectory.jsonl"), "utf8");
      return [
        String((record.axes as { task: string }).task),
        JSON.parse(events.split("\n")[0]!) as { promptTemplateDigest: string },
      ];
    }),
  );
  const digests = [...prompts.values()].map(({ promptTemplateDigest }) => promptTemplateDigest);
  assert.equal(new Set(digests).size, 4, "each level has its own text");
});
