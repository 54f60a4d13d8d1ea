import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import {
  existsSync,
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
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { leftSandbox } from "@mlrb/kit/attempts/left-sandbox";

const root = mkdtempSync(join(tmpdir(), "attempt-step-"));
after(() => rmSync(root, { recursive: true }));

/** Folders and flags for one run of the step whose agent is this shell script. */
function prepare(script: string, params: Record<string, string> = {}, budget: Record<string, string> = {}) {
  const folder = mkdtempSync(join(root, "run-"));
  for (const name of ["data", "program", "out"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "data/a"), "x");
  writeFileSync(join(folder, "program/agent.sh"), script);
  writeFileSync(join(folder, "prompt.md"), "Until {{deadline}}.");
  const flags: [string, Record<string, string>][] = [
    ["axis", { task: "t", agent: "a", seed: "1" }],
    [
      "param",
      {
        kind: "command",
        command: '["sh","./agent.sh"]',
        program: join(folder, "program"),
        trusted: "true",
        prompt: join(folder, "prompt.md"),
        ...params,
      },
    ],
    ["budget", { time: "20s", ...budget }],
    ["input", { public: join(folder, "data") }],
    [
      "output",
      Object.fromEntries(
        ["submission", "trajectory", "ledger", "snapshots"].map((name) => [name, join(folder, "out", name)]),
      ),
    ],
  ];
  const args = flags.flatMap(([flag, values]) =>
    Object.entries(values).flatMap(([name, value]) => [`--${flag}`, `${name}=${value}`]),
  );
  return { out: join(folder, "out"), args: ["pipelines/steps/attempt.ts", ...args] };
}

async function run(script: string, params: Record<string, string> = {}, more: Record<string, string> = {}) {
  const { out, args } = prepare(script, params);
  try {
    await promisify(execFile)(process.execPath, args, {
      env: { ...process.env, MLRB_PYTHON: "/some/venv/bin/python", ...more },
    });
    return { out, code: 0, stderr: "" };
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string };
    return { out, code, stderr };
  }
}

test("a scripted agent's attempt leaves its four outputs and nothing else", async () => {
  const { out, code } = await run('echo "$PATH" > submission/path; exit 4');
  assert.equal(code, 0);
  assert.deepEqual(readdirSync(out).sort(), ["ledger", "snapshots", "submission", "trajectory"]);
  assert.equal(
    readFileSync(join(out, "submission/path"), "utf8"),
    "/some/venv/bin:/usr/local/bin:/usr/bin:/bin\n",
  );
  const ledger = JSON.parse(readFileSync(join(out, "ledger"), "utf8"));
  assert.deepEqual([ledger.ended, ledger.exit, ledger.budget.wallMs], ["agent-error", { code: 4 }, 20_000]);
});

test("nop needs no command, program or trust", async () => {
  const { out, args } = prepare("");
  const nop = args.flatMap((arg, at) =>
    /^(command|program|trusted)=/.test(args[at + 1] ?? arg) || /^(command|program|trusted)=/.test(arg)
      ? []
      : [arg],
  );
  await promisify(execFile)(
    process.execPath,
    nop.map((arg) => (arg === "kind=command" ? "kind=nop" : arg)),
  );
  assert.deepEqual(readdirSync(join(out, "submission")), []);
});

test("untrusted agents run in a sandbox or are refused", async () => {
  const script = 'ls / > "$MLRB_SUBMISSION/seen"';
  const walled = await run(script, { trusted: "false" });
  if (walled.code === 0) {
    const seen = readFileSync(join(walled.out, "submission/seen"), "utf8").split("\n");
    assert.ok(seen.includes("attempt") && !seen.includes("root"), seen.join(" "));
  } else assert.match(walled.stderr, /bubblewrap cannot be used here/);
  const bare = await run(script, { trusted: "false" }, { PATH: dirname(process.execPath) });
  assert.equal(bare.code, 75, bare.stderr);
  assert.match(bare.stderr, /lacks `trusted: true`\), and there is no sandbox.*--executor docker/);
  assert.deepEqual(readdirSync(bare.out), []);
});

test("a restart that is killed before its files are restored leaves no sandbox that counts as kept files", async () => {
  const { out, args } = prepare("", { trusted: "false" });
  const folder = dirname(out);
  writeFileSync(join(out, "trajectory"), '{"event":"start"}\n');
  const step = promisify(execFile)(process.execPath, args, { env: { ...process.env, MLRB_WORK: folder } });
  await assert.rejects(step, /the attempt cannot continue/);
  const [work] = readdirSync(folder).filter((name) => name.startsWith("attempt-"));
  mkdirSync(join(folder, work!, "sandbox-1"));
  writeFileSync(join(folder, work!, "sandbox-1.ext4"), ""); // what is made next, before its files
  assert.equal(leftSandbox(folder), undefined);
});

test("a budget without a unit makes the stage fail before anything runs", async () => {
  const { args } = prepare("", {}, { time: "20" });
  await assert.rejects(
    promisify(execFile)(process.execPath, args),
    /--budget time is 20, not a duration with a unit/,
  );
});

test("a stage that receives a signal to end ends its agent too", {
  skip: process.platform === "linux" ? false : "needs Linux: processes are found in /proc",
}, async () => {
  const { out, args } = prepare(
    "echo $$ > submission/pid; setsid sleep 300 & echo $! > submission/child; sleep 300",
  );
  const step = spawn(process.execPath, args, { stdio: "ignore" });
  const ended = new Promise((resolve) => step.on("exit", (code) => resolve(code)));
  const kept = ["pid", "child"].map((name) => join(out, "snapshots/0001", name));
  const whole = () => kept.every((path) => existsSync(path) && statSync(path).size > 0);
  for (let waited = 0; !whole() && waited < 15_000; waited += 50) await sleep(50);
  const pids = kept.map((path) => readFileSync(path, "utf8").trim());
  step.kill("SIGTERM");
  assert.equal(await ended, 143);
  for (const pid of pids)
    assert.ok(!existsSync(`/proc/${pid}`) || /\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8")));
  assert.deepEqual(
    readdirSync(out).filter((name) => name.startsWith("attempt-")),
    [],
  );
});
