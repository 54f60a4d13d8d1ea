// A team of scripts next to single scripts and the best of two, with equal dollars, in smoke.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { ledgerFile } from "@mlrb/formats/attempt/ledger";
import { mustFollow } from "@mlrb/formats/read-format";
import { report as reportFormat } from "@mlrb/formats/report";
import { readJson } from "@mlrb/kit/json-file";
import { recordsIn } from "./support/end-state.ts";
import { shareEnvironments } from "./support/environments.ts";
import { startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

test("a team, one agent and the best of two with equal dollars: budgets, spending and the report's words", async (t) => {
  const repository = throwAwayRepository();
  t.after(() => repository.remove());
  const root = join(repository.path, "root");
  shareEnvironments(root);
  const agents = ["script-team+purse", "script-strong+purse", "script-strong+half-purse"];
  const set = ["task=baby-lm", "seed=1,2", "scorer=bits-per-byte", `agent=${agents.join(",")}`];
  const flags = set.flatMap((one) => ["--set", one]);
  const ran = await startProgram(repository.path, ["run", "collaboration", ...flags, "--root", root]).ended;
  assert.equal(ran.code, 0, ran.stdout + ran.stderr);
  const [file] = globSync("results/collaboration/*/report.json", { cwd: root });
  const report = mustFollow(reportFormat, readJson(join(root, file!)), "report.json");
  const arm = report.together!.arms.find(({ name }) => name === "dollars")!;
  assert.deepEqual(
    arm.sides.map(({ side, agent, n, budget, limits }) => [side, agent, n, budget!.dollars, limits]),
    [
      ["team", "script-team+purse", 2, 1, { none: 2 }],
      ["best-of-k", "script-strong+half-purse", 1, 0.5, { none: 2 }],
      ["solo", "script-strong+purse", 2, 1, { none: 2 }],
    ],
  );
  assert.ok(
    arm.sides.every(({ mean }) => mean !== null),
    "each side has a score",
  );
  const folder = join(root, dirname(file!));
  const words = readFileSync(join(folder, "report.md"), "utf8");
  assert.match(words, /no statement: this is smoke/);
  assert.match(words, /script-team\+two-machines is not planned/);
  assert.match(readFileSync(join(folder, "costs.md"), "utf8"), /Together: what each side spent/);
  const ledgers = recordsIn(root).map(({ record, digest }) => {
    const path = join(root, ".mlrb/attempts/records", digest, "ledger.json");
    const ledger = mustFollow(ledgerFile, readJson(path), path);
    assert.ok("budget" in ledger);
    return { agent: String((record.axes as { agent: string }).agent), ledger };
  });
  assert.equal(ledgers.length, 6);
  for (const { ledger } of ledgers) {
    const { machineDollars = 0, workingMs } = ledger;
    assert.ok(machineDollars > 0 && Math.abs(machineDollars - (2.5 * workingMs) / 3_600_000) < 1e-12);
  }
  for (const { ledger } of ledgers.filter(({ agent }) => agent === "script-team+purse"))
    assert.deepEqual(
      ledger.members!.map(({ name, agent, messages }) => [name, agent, messages]),
      [
        ["lead", "script-lead", 1],
        ["coder", "script-coder", 0],
      ],
    );
});
