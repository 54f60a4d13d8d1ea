// Waiting must not be free work: an agent's background jobs make no progress while it waits for its provider.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { removeDiskImages } from "@mlrb/kit/files/disk-image";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { startLoopbackProvider } from "../../../../tests/support/providers/loopback-provider.ts";
import { bubblewrapMissing } from "../sandbox/bubblewrap-abilities.ts";
import { bubblewrapWalls } from "../sandbox/bubblewrap-walls.ts";
import { plainSandbox } from "../sandbox/plain-sandbox.ts";
import { walledSandbox } from "../sandbox/walled-sandbox.ts";
import { providersAt } from "../testing/gateway-lab.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { Interrupted } from "./interruption.ts";
import { runAttempt } from "./run-attempt.ts";

/** A background job records the longest time in which it did not run; the agent meets a 429. */
const agent = `
import json, os, shutil, subprocess, sys, time, urllib.error, urllib.request
if len(sys.argv) > 1:
    longest, last = 0.0, time.monotonic()
    while True:
        now = time.monotonic()
        longest, last = max(longest, now - last), now
        with open("gap.new", "w") as file:
            file.write(str(longest))
        os.rename("gap.new", "submission/gap")
        time.sleep(0.01)
shutil.copy("deadline", "submission/before")
subprocess.Popen([sys.executable, __file__, "MARK"], start_new_session=True)
while not os.path.exists("submission/gap"):
    time.sleep(0.01)
body = {"model": "claude-test", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
statuses = []
while True:
    request = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(),
        {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"})
    try:
        statuses.append(urllib.request.urlopen(request, timeout=30).status)
        break
    except urllib.error.HTTPError as error:
        statuses.append(error.code)
        if len(statuses) > 5 or error.code != 429:
            break
time.sleep(0.3)
shutil.copy("deadline", "submission/after")
open("submission/statuses", "w").write(json.dumps(statuses))
`;

type Changes = { retryAfterMs?: number; whileFrozen?: (end: () => void) => void };

async function attempt(
  t: TestContext,
  open: (under: string) => Promise<Sandbox>,
  { retryAfterMs = 2000, whileFrozen }: Changes = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "frozen-"));
  t.after(async () => {
    await removeDiskImages(folder); // the sandbox is closed only after this
    removeFolder(folder);
  });
  const at = (name: string) => join(folder, name);
  for (const name of ["data", "program", "scratch", "submission"]) mkdirSync(at(name));
  const mark = basename(folder);
  writeFileSync(at("program/agent.py"), agent.replace("MARK", mark));
  const provider = await startLoopbackProvider({
    script: [
      { status: 429, retryAfterMs },
      { text: "hello", usage: { input: 5, output: 5 } },
    ],
  });
  t.after(() => provider.close());
  const opened = await open(at("work"));
  t.after(() => opened.close());
  const ending = new AbortController();
  const sandbox: Sandbox = {
    ...opened,
    async freeze() {
      const frozen = await opened.freeze();
      whileFrozen?.(() => ending.abort(new Interrupted("SIGTERM")));
      return frozen;
    },
  };
  const outputs = {
    submission: at("submission"),
    trajectory: at("trajectory.jsonl"),
    ledger: at("ledger.json"),
    snapshots: at("snapshots"),
  };
  const request: AttemptRequest = {
    ...{ task: "some-task", agent: "test", seed: 7, kind: "command" },
    command: ["python3", "{program}/agent.py"],
    program: at("program"),
    prompt: "Begin.\n",
    publicData: at("data"),
    budget: { timeMs: 60_000 },
    outputs,
    ...{ scratch: at("scratch"), limits: { bytesMax: 1 << 20, filesMax: 100 }, pollMs: 50 },
    gateway: providersAt(provider).map((one) => ({ ...one, free: true })),
  };
  const running = runAttempt(sandbox, { ...request, interrupted: ending.signal });
  if (whileFrozen) await assert.rejects(running, Interrupted);
  await running.catch(() => {});
  const ledger = readLedger(outputs.ledger) as Ledger;
  const events = readFileSync(outputs.trajectory, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const read = (name: string) =>
    existsSync(at(`submission/${name}`)) ? readFileSync(at(`submission/${name}`), "utf8") : "";
  return { ledger, events, read, alive: () => processesWithArgument(mark) };
}

function processesWithArgument(mark: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0").includes(mark);
    } catch {
      return false;
    }
  });
}

const missing = await bubblewrapMissing();
const sandboxes: [string, string | false, (under: string) => Promise<Sandbox>][] = [
  ["a plain sandbox", process.platform === "linux" ? false : "nothing can be frozen here", plainSandbox],
  [
    "bubblewrap",
    missing ?? false,
    (under) =>
      walledSandbox({
        ...{ under, agent: "test", open: bubblewrapWalls, kind: "bubblewrap" },
        ...{ reads: [], network: "none", gpus: [], token: `frozentest${process.pid}` },
        limits: { memoryBytes: 2 ** 28, processes: 64, diskBytes: 2 ** 26, cpus: 1 },
      }),
  ],
];

for (const [name, skip, open] of sandboxes) {
  test(`in ${name} a background job makes no progress during a rate limit, and the deadline moves by that time`, {
    skip,
    timeout: 60_000,
  }, async (t) => {
    const { ledger, events, read } = await attempt(t, open);
    assert.deepEqual(
      JSON.parse(read("statuses")),
      [429, 200],
      "the program gets the error, without another wait",
    );
    const wait = events.find(({ event }) => event === "wait");
    assert.deepEqual([wait.why, wait.charged], ["rate-limit", undefined]);
    assert.ok(Number(read("gap")) * 1000 >= wait.frozenMs, `${read("gap")} s without progress`);
    assert.ok(wait.frozenMs > 0 && wait.frozenMs <= wait.durationMs);
    assert.ok(Math.abs(ledger.wallMs - ledger.workingMs - wait.frozenMs) <= 2);
    const [before = 0, after = 0] = ["before", "after"].map((file) => Number(read(file).split("\n")[0]));
    assert.ok(Math.abs(after - before - wait.frozenMs / 1000) <= 1, `${before} to ${after}`);
    assert.equal(Date.parse(read("after").split("\n")[1]!), 1000 * after);
  });

  test(`in ${name} an attempt ended while frozen leaves no process and a complete record`, {
    skip,
    timeout: 60_000,
  }, async (t) => {
    const whileFrozen = (end: () => void) => setTimeout(end, 200);
    const { ledger, events, alive } = await attempt(t, open, { retryAfterMs: 60_000, whileFrozen });
    assert.equal(events.at(-1).event, "end");
    assert.ok(ledger.wallMs < 50_000, "it did not wait for the end of the rate limit");
    assert.ok(ledger.workingMs <= ledger.wallMs - 100);
    assert.deepEqual(alive(), []);
  });
}
