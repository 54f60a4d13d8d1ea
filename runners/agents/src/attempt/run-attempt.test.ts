import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { type Reply, startLoopbackProvider } from "../../../../tests/support/providers/loopback-provider.ts";
import { ProviderTrouble } from "../model/provider-trouble.ts";
import { plainSandbox } from "../sandbox/plain-sandbox.ts";
import { priceBook } from "../spending/prices.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { runAttempt } from "./run-attempt.ts";

const root = mkdtempSync(join(tmpdir(), "attempts-"));
after(() => {
  execFileSync("chmod", ["-R", "u+rwX", root]);
  execFileSync("rm", ["-rf", root]);
});

/** Runs an attempt whose program is this shell script. */
async function attempt(script: string, changes: Partial<AttemptRequest> = {}) {
  const folder = mkdtempSync(join(root, "a-"));
  const at = (name: string) => join(folder, name);
  for (const name of ["data/deep", "program", "scratch"]) mkdirSync(at(name), { recursive: true });
  writeFileSync(at("data/deep/train.txt"), "public");
  writeFileSync(at("program/agent.sh"), script);
  const outputs = {
    submission: at("submission"),
    trajectory: at("trajectory.jsonl"),
    ledger: at("ledger.json"),
    snapshots: at("snapshots"),
    workspace: at("kept"),
  };
  mkdirSync(outputs.submission);
  mkdirSync(outputs.workspace);
  const sandbox = await plainSandbox(at("work"));
  try {
    const ledger = await runAttempt(sandbox, {
      task: "some-task",
      agent: "test",
      seed: 7,
      kind: "command",
      command: ["sh", "./agent.sh"],
      program: at("program"),
      prompt: "Until {{deadline}}, {{budget}}, seed {{seed}}.",
      publicData: at("data"),
      budget: { timeMs: 20_000 },
      outputs,
      scratch: at("scratch"),
      limits: { bytesMax: 1 << 20, filesMax: 100 },
      pollMs: 50,
      ...changes,
    });
    const events = readFileSync(outputs.trajectory, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.equal((await verifyTrajectory(outputs.trajectory, ledger.trajectory)).kind, "intact");
    return { ledger, events, outputs, files: readdirSync(outputs.submission).sort() };
  } finally {
    await sandbox.close();
    assert.deepEqual(readdirSync(at("work")), [], "the sandbox leaves nothing behind");
  }
}

const output = (events: { event: string; text?: string }[]) =>
  events
    .filter(({ event }) => event === "output")
    .map(({ text }) => text)
    .join("");

test("an agent finds the workspace and nothing else in its environment", async () => {
  process.env.MLRB_TEST_SECRET = "leaks";
  const { events, ledger } = await attempt(
    'head -n 1 TASK.md; cat data/deep/train.txt; ls; env | cut -d= -f1 | sort | tr "\\n" " "; test -d "$HOME" && test -d "$TMPDIR" && echo; echo "$MLRB_TASK $MLRB_SEED $MLRB_DEADLINE $TZ $LANG"; [ "$MLRB_SUBMISSION" = "$PWD/submission" ] && echo same',
  );
  const text = output(events);
  assert.match(text, /^Until 20\d\d-[\dT:-]+Z, 20 seconds, seed 7\.\npublic/);
  assert.match(text, /TASK\.md\ndata\ndeadline\niterations\.jsonl\nsubmission\n/);
  assert.match(
    text,
    /HOME LANG MLRB_DEADLINE MLRB_SEED MLRB_SUBMISSION MLRB_TASK MLRB_TOKEN OMP_NUM_THREADS (OLDPWD )?PATH PWD PYTHONDONTWRITEBYTECODE PYTHONHASHSEED (SHLVL )?TMPDIR TZ/,
  );
  assert.doesNotMatch(text, /SECRET/);
  assert.match(text, /some-task 7 \d{10} UTC C\.UTF-8\nsame\n/);
  assert.equal(ledger.ended, "finished");
});

test("the texts that an attempt leaves are kept, without what it was given", async () => {
  const { outputs } = await attempt(
    'mkdir src; echo "print(1)" > src/train.py; echo tip > "$HOME/notes"; echo rows > "$TMPDIR/rows.txt"; head -c 99 /dev/zero > weights; printf "\\211PNG\\0" > plot.png; echo m > submission/m; ln -s /etc/hostname link',
  );
  const files = join(outputs.workspace, "files");
  const kept = readdirSync(files, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [] : [join(entry.parentPath, entry.name).slice(files.length + 1)],
  );
  assert.deepEqual(kept.sort(), [
    "home/notes",
    "tmp/rows.txt",
    "workspace/iterations.jsonl",
    "workspace/plot.png",
    "workspace/src/train.py",
    "workspace/weights",
  ]);
  const index = JSON.parse(readFileSync(join(outputs.workspace, "index.json"), "utf8"));
  assert.deepEqual(index.folders[0].leftOut, [{ path: "link", why: "symbolic link" }]);
});

test("the submission, the iterations and the snapshots are kept", async () => {
  const { files, events, outputs, ledger } = await attempt(
    // moved into place: on a busy machine a snapshot could fall between a truncation and a write
    'cd submission; echo one > m; sleep 1.3; echo two > ../n; mv ../n m; sleep 1.3; echo \'{"id":1,"hypothesis":"h"}\' >> ../iterations.jsonl; echo nonsense >> ../iterations.jsonl; echo three > m; mkdir sub; echo x > sub/y',
  );
  assert.deepEqual(files, ["m", "sub"]);
  assert.equal(readFileSync(join(outputs.submission, "m"), "utf8"), "three\n");
  assert.equal(readFileSync(join(outputs.snapshots, "0001", "m"), "utf8"), "one\n");
  assert.equal(readFileSync(join(outputs.snapshots, "0002", "m"), "utf8"), "two\n");
  assert.deepEqual(events.at(-1).iterations, { wellFormed: 1, malformed: 1, notKept: 0 });
  const index = JSON.parse(readFileSync(join(outputs.snapshots, "index.json"), "utf8"));
  assert.deepEqual(
    // on a busy machine one more may be taken during the last write
    index.snapshots.slice(0, 2).map(({ name }: { name: string }) => name),
    ["0001", "0002"],
  );
  assert.equal(ledger.submission.files, 2);
  // the last changes are in the final snapshot, or in one more that was taken before the program ended
  const later = events.filter(({ event, name }) => event === "snapshot" && !/^000[12]$/.test(name));
  assert.equal(later.at(-1).name, "final");
  const paths = later.flatMap(({ changed }) => changed.map(({ path }: { path: string }) => path));
  assert.deepEqual([...new Set(paths)].sort(), ["m", "sub/y"]);
});

test("an agent that fails is measured with its submission", async () => {
  const { ledger, files } = await attempt("echo x > submission/half; exit 3");
  assert.equal(ledger.ended, "agent-error");
  assert.deepEqual(ledger.exit, { code: 3 });
  assert.deepEqual(files, ["half"]);
});

test("an agent killed from inside is measured", async () => {
  const { ledger } = await attempt("kill -9 $$");
  assert.deepEqual([ledger.ended, ledger.exit], ["agent-error", { signal: "SIGKILL" }]);
});

test("nop submits nothing and is a finished attempt", async () => {
  const { ledger, files, events } = await attempt("", { kind: "nop", command: [] });
  assert.deepEqual(files, []);
  assert.equal(ledger.ended, "finished");
  assert.deepEqual(
    events.map(({ event }) => event),
    ["start", "snapshot", "end"],
  );
});

test("at the time limit the agent is ended and its submission kept", async () => {
  const { ledger, files, events, outputs } = await attempt(
    "trap '' TERM INT; n=0; while :; do sleep 0.05; echo $((n += 1)) > step; mv step submission/m; done",
    { budget: { timeMs: 3000 } },
  );
  assert.equal(ledger.ended, "time-limit");
  assert.ok(ledger.workingMs >= 2999, String(ledger.workingMs));
  assert.deepEqual([files, ledger.waitedMs], [["m"], {}]);
  // the agent's own steps are the clock: on a slow machine it makes fewer
  const steps = Number(readFileSync(join(outputs.submission, "m"), "utf8"));
  assert.ok(steps > 0 && steps <= 2 * (3000 / 50), `${steps} steps of 50 ms in a budget of 3 s`);
  assert.deepEqual(
    events.filter(({ event }) => event === "budget").map(({ share }) => share),
    [0.25, 0.5, 0.75],
  );
});

const alive = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));

test("detached children end with the attempt, and write nothing after it", {
  skip: process.platform === "linux" ? false : "needs Linux: processes are found in /proc",
}, async () => {
  const { events, outputs } = await attempt(
    "setsid sh -c '(trap \"\" HUP TERM; echo pid $$; while :; do date >> submission/late; sleep 0.02; done) & echo pid $!; sleep 300' & " +
      "env -i setsid sleep 300 & echo pid $!; sleep 0.5",
  );
  const pids = [...output(events).matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid));
  assert.ok(pids.length >= 2);
  for (const pid of pids) assert.ok(!alive(pid), `${pid} still runs`);
  const before = readFileSync(join(outputs.submission, "late"), "utf8");
  await sleep(100);
  assert.equal(readFileSync(join(outputs.submission, "late"), "utf8"), before);
});

test("an agent that ends its whole process group does not end its supervisor", async () => {
  const { ledger } = await attempt("kill -9 0");
  assert.equal(ledger.ended, "agent-error");
});

test("endless output is clipped, and its end is kept", async () => {
  const { events, outputs } = await attempt("yes 0123456789 | head -c 30000000; echo; echo the end");
  assert.ok(readFileSync(outputs.trajectory).length < 12 << 20);
  assert.match(output(events), /the end\n$/);
  const clipped = events.find(({ event }) => event === "output-clipped").bytes;
  const kept = Buffer.byteLength(output(events));
  assert.equal(clipped + kept, 30_000_000 + "\nthe end\n".length);
});

test("secrets are removed from the agent's output and iterations", async () => {
  const { events } = await attempt(
    'printf "key sk-1"; sleep 0.2; echo 23; echo "sk-123" >> iterations.jsonl',
    {
      redact: (text) => text.replaceAll("sk-123", "[secret]"),
    },
  );
  assert.doesNotMatch(JSON.stringify(events), /sk-123/);
  assert.match(output(events), /key \[secret\]/);
});

test("odd entries of a hostile submission are left out and listed", async () => {
  const { events, files, ledger, outputs } = await attempt(
    `cd submission; echo ok > fine; ln -s /etc/passwd link; ln -s / up; mkfifo pipe; ln fine hard; 
     printf x > "new
line"; printf x > "$(printf 'bad\\377')"; printf x > 'back\\slash'; mkdir deep; (cd deep; i=0; while [ $i -lt 80 ]; do mkdir d; cd d; i=$((i+1)); done; echo x > bottom)
     python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")'`,
  );
  assert.deepEqual(files, ["fine", "hard"]);
  assert.equal(readFileSync(join(outputs.submission, "hard"), "utf8"), "ok\n");
  const final = events.find(({ name }) => name === "final");
  const why = Object.fromEntries(
    final.leftOut.map((entry: { path: string; why: string }) => [entry.path.slice(0, 20), entry.why]),
  );
  assert.deepEqual(why, {
    "bad%ff": "odd name",
    "back\\slash": "odd name",
    "deep/d/d/d/d/d/d/d/d": "deeper than 64 folders",
    link: "symbolic link",
    "new%0aline": "odd name",
    pipe: "named pipe",
    sock: "socket",
    up: "symbolic link",
  });
  assert.deepEqual(ledger.submission.leftOut, final.leftOut);
});

test("a submission folder replaced by a link is not followed", async () => {
  for (const script of [
    "rmdir submission; ln -s /etc submission",
    "cd ..; mv workspace w; ln -s w workspace",
    "rm -rf submission",
  ]) {
    const { files, ledger } = await attempt(script);
    assert.deepEqual(files, []);
    assert.equal(ledger.submission.leftOut.length, 1);
  }
});

test("a submission over the limits is not taken, and the ledger records why", async () => {
  const big = await attempt("truncate -s 1T submission/big; echo x > submission/small");
  assert.deepEqual(big.files, []);
  assert.equal(big.ledger.submission.overLimits, "more than 1048576 bytes");
  const many = await attempt("cd submission; for i in $(seq 150); do : > f$i; done");
  assert.deepEqual(many.files, []);
  assert.equal(many.ledger.submission.overLimits, "more than 100 files and folders");
});

test("folders without permission are cleaned up", async () => {
  const { ledger } = await attempt("cd submission; mkdir a; echo x > a/b; chmod 000 a/b a; chmod 000 .");
  assert.equal(ledger.ended, "finished");
});

test("snapshots of a busy agent stay bounded and spread over the attempt", async () => {
  const { outputs } = await attempt(
    "i=0; while [ $i -lt 30 ]; do i=$((i+1)); head -c 300000 /dev/zero > submission/m; echo $i >> submission/m; sleep 0.12; done",
    { pauseMs: 100 },
  );
  const index = JSON.parse(readFileSync(join(outputs.snapshots, "index.json"), "utf8"));
  const bytes = index.snapshots.reduce((sum: number, one: { bytes: number }) => sum + one.bytes, 0);
  assert.ok(bytes <= 2 << 20 && index.snapshots.length >= 3);
  const kept = index.snapshots.map(({ name }: { name: string }) => name);
  assert.deepEqual(readdirSync(outputs.snapshots).sort(), [...kept, "index.json"]);
});

test("a program that cannot be started is trouble of the harness, not an attempt", async () => {
  await assert.rejects(
    attempt("", { command: ["no-such-program"] }),
    /agent "test": its program could not be started: .*ENOENT[\s\S]*preset/,
  );
});

test("a prompt with an unknown blank is refused before the agent starts", async () => {
  await assert.rejects(
    attempt("", { prompt: "Do it by {{deadlin}}" }),
    /unknown blank \{\{deadlin\}\}; it may use \{\{deadline\}\}/,
  );
});

test("an agent gets a copy of the data and cannot change the original", async () => {
  const folder = mkdtempSync(join(root, "public-"));
  writeFileSync(join(folder, "a"), "true");
  await attempt("chmod -R u+w data; echo false > data/a; rm -rf data", { publicData: folder });
  assert.equal(readFileSync(join(folder, "a"), "utf8"), "true");
  rmSync(folder, { recursive: true });
});

test("the last snapshot and the submission share one copy of a finished model, separate from the agent's", async () => {
  const { outputs, events } = await attempt(
    "head -c 3000000 /dev/zero > submission/model; ls -i submission/model; sleep 3; echo card > submission/card",
    { limits: { bytesMax: 8 << 20, filesMax: 100 }, pauseMs: 100 },
  );
  const { ino, nlink } = statSync(join(outputs.submission, "model"));
  const { snapshots } = JSON.parse(readFileSync(join(outputs.snapshots, "index.json"), "utf8"));
  const held = snapshots.map(
    ({ name }: { name: string }) => statSync(join(outputs.snapshots, name, "model")).ino,
  );
  assert.equal(held.at(-1), ino);
  assert.equal(nlink, 1 + held.filter((one: number) => one === ino).length);
  assert.doesNotMatch(output(events), new RegExp(`^${ino} `));
  assert.equal(events.find(({ name }) => name === "final").bytes, 3_000_005);
});

test("an agent reads the foreword unchanged before the prompt, and may change the starter files", async () => {
  const starter = mkdtempSync(join(root, "starter-"));
  mkdirSync(join(starter, "kit/deep"), { recursive: true });
  writeFileSync(join(starter, "kit/deep/a.py"), "print(1)");
  const foreword = "Official {{deadline}}.\n\nNone";
  const { events } = await attempt("echo 2 > kit/deep/a.py && cat TASK.md kit/deep/a.py", {
    foreword,
    starters: [starter],
  });
  assert.match(
    output(events),
    /^Official \{\{deadline\}\}\.\n\nNone\n\n---\n\nUntil 20\d\d-[^{}]*, 20 seconds, seed 7\.\n[\s\S]*\n2\n$/,
  );
  assert.equal(readFileSync(join(starter, "kit/deep/a.py"), "utf8"), "print(1)");
});

test("starter files with the name of a folder of the workspace are refused before the agent starts", async () => {
  const starter = mkdtempSync(join(root, "starter-"));
  mkdirSync(join(starter, "data"));
  await assert.rejects(
    attempt("true", { starters: [starter] }),
    /the starter files hold "data", which the workspace has too/,
  );
});

test("the caller's own copies are moved to the agent, unless they have other hard links", async () => {
  for (const shared of [false, true]) {
    const folder = mkdtempSync(join(root, "own-"));
    for (const name of ["data", "models/base"]) mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, "data/a"), "true");
    writeFileSync(join(folder, "models/base/weights"), "heavy");
    if (shared) linkSync(join(folder, "models/base/weights"), join(folder, "weights"));
    const { events } = await attempt(
      "ls -i models/base/weights; chmod -R u+w models; echo light > models/base/weights; cat data/a",
      {
        publicData: join(folder, "data"),
        models: join(folder, "models"),
        ownCopies: true,
      },
    );
    assert.match(output(events), /true$/);
    assert.deepEqual(readdirSync(folder), shared ? ["models", "weights"] : []);
    if (shared) assert.equal(readFileSync(join(folder, "weights"), "utf8"), "heavy");
  }
});

test("a planner of another provider has its own key, price and count, and its attempt can be replayed", async (t) => {
  const provider = async (key: string, script: Reply[]) => {
    const started = await startLoopbackProvider({ key, script });
    t.after(() => started.close());
    return started;
  };
  const usage = { input: 100, output: 10 };
  const call = (name: string, input: object) => ({ toolCalls: [{ name, input: { ...input } }], usage });
  const plans = await provider("key-of-p", [
    { text: "Train.", usage, answeredBy: "planner-1", fingerprint: "fp_1" },
  ]);
  const works = await provider("key-of-w", [
    call("shell", { command: "echo trained > submission/model" }),
    { status: 429, complaint: "rate-limit", retryAfterMs: 10 },
    call("submit", {}),
  ]);
  const model = { provider: "w", id: "worker", baseUrl: works.baseUrl, contextTokens: 9000 };
  const planner = { provider: "p", id: "planner", baseUrl: plans.baseUrl, contextTokens: 9000 };
  const llm = {
    model,
    scaffold: { kind: "mlrb-2024" as const, planner },
    key: "key-of-w",
    plannerKey: "key-of-p",
  };
  const prices = priceBook([{ run: null, prices: ["planner=10/100", "worker=1/10"] }], new Map());
  const asked = { command: [], prices, budget: { timeMs: 60_000, dollars: 1 } };
  const { ledger, events, files, outputs } = await attempt("", { ...asked, kind: "llm", llm });
  assert.deepEqual([ledger.ended, files], ["submitted", ["model"]]);
  const calls = events.filter(({ event }) => event === "model-call");
  assert.deepEqual(
    calls.map(({ call: number, by, provider, model, dollars }) => [number, by, provider, model, dollars]),
    [
      [1, "planner", "p", "planner", 0.002],
      [2, "worker", "w", "worker", 0.0002],
      [3, "worker", "w", "worker", 0.0002],
    ],
  );
  assert.equal(ledger.dollars?.toFixed(6), "0.002400");
  assert.equal(ledger.usage?.failedTries, 1);
  assert.deepEqual(ledger.usage?.served, [
    { provider: "p", model: "planner", answeredBy: "planner-1", fingerprint: "fp_1", calls: 1 },
    { provider: "w", model: "worker", answeredBy: "worker", calls: 2 },
  ]);
  assert.deepEqual(
    [plans, works].map(({ seen, turnedAway }) => [seen.length, turnedAway()]),
    [
      [1, 0],
      [3, 0],
    ],
  );
  const again = await attempt("", { ...asked, kind: "replay", recording: dirname(outputs.trajectory) });
  assert.deepEqual([again.ledger.ended, again.files], ["submitted", ["model"]]);
  assert.equal(again.events.filter(({ event }) => event === "model-call").length, 3);
});

/** A model whose second answer comes after the deadline. */
async function slowModel(t: TestContext, second: () => Promise<Reply>) {
  const provider = await startLoopbackProvider({
    key: null,
    script: (_, index) =>
      index === 0 ? { toolCalls: [{ name: "shell", input: { command: "true" } }] } : second(),
  });
  t.after(() => provider.close());
  const model = { provider: "p", id: "m", baseUrl: provider.baseUrl, contextTokens: 9000, free: true };
  const llm = { model, scaffold: { kind: "react" as const } };
  return attempt("", { kind: "llm", command: [], llm, budget: { timeMs: 1500 }, holdMs: 2500 });
}

test("a provider that is silent before and after the deadline is not the agent's failure", async (t) => {
  await assert.rejects(
    slowModel(t, async () => ({ hang: true })),
    (error) => {
      assert.ok(error instanceof ProviderTrouble, String(error));
      assert.deepEqual([error.cause, error.whose], ["idle", "provider"]);
      return true;
    },
  );
});

test("an attempt is measured if its model answers after the deadline", async (t) => {
  const { ledger } = await slowModel(t, async () => {
    await sleep(2000);
    return { text: "done" };
  });
  assert.equal(ledger.ended, "time-limit");
});
