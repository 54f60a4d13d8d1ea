// How often an attempt that its supervisor timed breaks the rule on time: the count of `time-within-budget` in
// docs/rules.md.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { isBounded } from "@mlrb/kit/rules/rule-evidence";
import { ruleMethods } from "@mlrb/kit/rules/rule-methods";
import { plainSandbox } from "../sandbox/plain-sandbox.ts";
import { runAttempt } from "./run-attempt.ts";

const root = mkdtempSync(join(tmpdir(), "mlrb-deadlines-"));
after(() => removeFolder(root));

/** Programs that end in time, and programs that only their supervisor ends, some against their will. */
const programs = {
  quick: "echo done > submission/model",
  "almost late": "sleep 0.5; echo done > submission/model",
  asleep: "sleep 60",
  busy: "while :; do :; done",
  writing: "while :; do echo more >> submission/model; done",
  "many children": "for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait",
  "deaf to signals": "trap '' TERM INT HUP; while :; do sleep 1; done",
  "left children": "setsid sh -c 'trap \"\" TERM; sleep 60' & setsid sleep 60 & echo done > submission/model",
  stopped: "kill -STOP $$",
  "full of output": "while :; do echo noise; done",
};
const budgetsMs = [300, 400, 500, 600, 700, 800, 900, 1000];

async function ledgerOf(program: string, timeMs: number): Promise<Ledger> {
  const folder = mkdtempSync(join(root, "a-"));
  const at = (name: string) => join(folder, name);
  for (const name of ["data", "scratch", "submission"]) mkdirSync(at(name));
  const sandbox = await plainSandbox(at("work"));
  try {
    return await runAttempt(sandbox, {
      ...{ task: "some-task", agent: "test", seed: 1, kind: "command", prompt: "" },
      command: ["sh", "-c", program],
      publicData: at("data"),
      budget: { timeMs },
      outputs: {
        submission: at("submission"),
        trajectory: at("trajectory.jsonl"),
        ledger: at("ledger.json"),
        snapshots: at("snapshots"),
      },
      scratch: at("scratch"),
      limits: { bytesMax: 1 << 24, filesMax: 100 },
      pollMs: 50,
    });
  } finally {
    await sandbox.close();
  }
}

test("no attempt that its supervisor times breaks the rule on time, and few enough could", async (t) => {
  const all = Object.entries(programs).flatMap(([name, program]) =>
    budgetsMs.map((timeMs) => ({ name, program, timeMs })),
  );
  const [answers, ends] = [[] as string[], new Set<string>()];
  let overrunMs = 0;
  const one = async () => {
    for (let next = all.pop(); next; next = all.pop()) {
      const ledger = await ledgerOf(next.program, next.timeMs);
      const { answer, evidence } = ruleMethods["time-within-budget"]!.decide!(
        { folder: root, weights: undefined, ledger, budgetMs: next.timeMs },
        {},
      );
      if (answer !== "pass") t.diagnostic(`${next.name}, ${next.timeMs} ms: ${answer}: ${evidence}`);
      overrunMs = Math.max(overrunMs, ledger.workingMs - next.timeMs);
      answers.push(answer);
      ends.add(ledger.ended);
    }
  };
  await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(one));
  const falseAlarms = answers.filter((answer) => answer !== "pass").length;
  t.diagnostic(
    `${falseAlarms} of ${answers.length} attempts broke the rule on time; ended: ${[...ends].join(", ")}; over the budget by at most ${overrunMs} ms`,
  );
  assert.deepEqual([...ends].sort(), ["finished", "time-limit"]);
  assert.ok(isBounded({ honest: answers.length, falseAlarms }));
});
