import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Outcome } from "@mlrb/core/ports/outcome";
import type { EndCause } from "@mlrb/formats/attempt/attempt-end";
import type { AttemptWait } from "@mlrb/formats/attempt/attempt-wait";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { makeAttemptFolder } from "@mlrb/local/attempts/attempt-folders";
import { quarantine } from "@mlrb/local/attempts/quarantine";
import { exampleCard } from "@mlrb/local/testing/example-record";
import { troublesOf } from "./troubles.ts";

function place(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-troubles-"));
  t.after(() => removeFolder(root));
  const attempts = join(root, ".mlrb/attempts");
  const running = join(attempts, "running");
  mkdirSync(join(root, ".mlrb/leases"), { recursive: true });
  const state = { root, attempts, running, logs: join(root, "logs") };
  const asked = { pipeline: "words", options: { profile: "q", root: "/scratch" } };
  const at = { state, slot: { pipeline: "p", profile: "q" }, waits: [], asked };
  /** An attempt of a model at this stage that was broken off, or with a cause is quarantined. */
  const left = (stage: string, cause?: EndCause) => {
    const gives = [{ name: "trajectory", file: "trajectory.jsonl", kind: "file" as const }];
    const by = { host: hostname(), boot: "", pid: 1, started: "" };
    const card = { ...exampleCard, by, key: "a".repeat(64), slot: { ...exampleCard.slot, stage }, gives };
    const { name, path } = makeAttemptFolder(running, card);
    mkdirSync(join(path, "attempt-x/sandbox-y/workspace"), { recursive: true });
    const start = JSON.stringify({ ...exampleEvent("start"), kind: "llm" });
    writeFileSync(join(path, "out/trajectory.jsonl"), `${start}\n`);
    if (cause) assert.ok(quarantine({ name, path, card }, cause, state));
    return cause ? name : name.slice(0, 12); // several attempts of one key may be quarantined
  };
  return { at, left };
}

const failed = (stage: string, cause: "machine" | "operator" | "exit-code") => ({
  stage,
  outcome: { kind: "failed", cause, detail: "why" } satisfies Outcome,
});

test("what can continue is resumed, other failures of the machine run again, and failures of code are not listed", (t) => {
  const { at, left } = place(t);
  const broken = left("attempt[seed=1]");
  const lost = left("attempt[seed=2]", { kind: "failed", detail: "its sandbox was lost" });
  const ended = [
    failed("attempt[seed=1]", "operator"),
    failed("attempt[seed=2]", "machine"),
    failed("data[task=a]", "machine"),
    failed("score[seed=1]", "exit-code"),
    { stage: "report", outcome: { kind: "skipped", because: "data" } satisfies Outcome },
  ];
  assert.deepEqual(troublesOf(ended, at), [
    {
      stage: "attempt[seed=1]",
      why: "operator: why",
      command: `pnpm pipeline attempts resume ${broken} --root /scratch`,
    },
    {
      stage: "attempt[seed=2]",
      why: "machine: why",
      command: `pnpm pipeline attempts resume ${lost} --root /scratch`,
    },
    {
      stage: "data[task=a]",
      why: "machine: why",
      command: "pnpm pipeline run words --profile q --only 'data[task=a]' --root /scratch",
    },
  ]);
});

test("an attempt that a person stopped is no trouble, and one that waits for a person comes first", (t) => {
  const { at, left } = place(t);
  left("attempt[seed=1]", { kind: "stopped", detail: "by `attempts stop`" });
  const times = { since: "2026-01-01T00:00:00.000Z", nextTry: null, giveUpAt: null };
  const wait: AttemptWait = {
    ...times,
    why: "operator",
    cause: "wrong-key",
    whose: "operator",
    detail: "401",
  };
  const provider: AttemptWait = { ...wait, why: "provider", cause: "overloaded", whose: "provider" };
  const waits = [
    { stage: "attempt[seed=3]", command: null, waits: [provider] },
    { stage: "attempt[seed=2]", command: "pnpm pipeline attempts resume 3f2a", waits: [wait] },
  ];
  assert.deepEqual(troublesOf([failed("attempt[seed=1]", "operator")], { ...at, waits }), [
    {
      stage: "attempt[seed=2]",
      why: "waits for you: wrong-key: 401",
      command: "pnpm pipeline attempts resume 3f2a",
    },
  ]);
});
