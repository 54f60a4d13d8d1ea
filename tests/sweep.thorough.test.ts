// Crash safety, at every point instead of at random times: the runner is killed at every system call by which a
// small run changes the disk, or that call fails, or the power fails, or the clock jumps. The next run is the only
// recovery: it ends in the state of an undisturbed run, and repeats nothing that was recorded. The runner makes
// the same calls in the same order each time, except for reads of /proc, which shift the numbers of later opens a
// little; so a fault may hit a neighbour of the intended call. A third of the kinds of calls is drawn, and long
// lists sampled; MLRB_TEST_SEED repeats a sample, and MLRB_SWEEP=full takes every call of every kind.
import assert from "node:assert/strict";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "@mlrb/core/statistics/random";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { type EndState, endState, recordedStages, recordsIn } from "./support/end-state.ts";
import { filesBelow, outcomes, type PipelineText } from "./support/lab.ts";
import { lacking } from "./support/machines/debian-tool.ts";
import { type LoopDisk, makeDisk, mountDisk, powerCut } from "./support/machines/loop-disk.ts";
import {
  type Call,
  callsIn,
  changes,
  type Fault,
  failedCall,
  runTraced,
  sample,
} from "./support/machines/system-calls.ts";
import { wrongClock } from "./support/machines/wrong-clock.ts";
import { spawnersLeft, stageProcesses, startedForAttempts, until } from "./support/processes.ts";
import { type ProgramOutput, parseLines, startProgram } from "./support/run-program.ts";
import { drawn, testSeed } from "./support/test-seed.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const full = process.env.MLRB_SWEEP === "full";
console.log(`sampled with MLRB_TEST_SEED=${testSeed}`);
const random = seededRandom(testSeed);
const repository = throwAwayRepository();
const above = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-sweep-")));
after(() => {
  repository.remove();
  removeFolder(above);
});

let roots = 0;
const newRoot = () => join(above, `root-${++roots}`);

/** Counted in the root, but outside the state, so that commands, and keys, are the same in every root. */
const counted = (name: string, then: string) =>
  `echo ${name} >> "$MLRB_WORK/../../../../executions"; ${then}`;

/** Five stages; `words` is what a person edits. The first leaves a process behind, which the runner must end. */
function define(name: string, { words = "words", report = "report", slow = "true" } = {}): void {
  const pipeline: PipelineText = {
    stages: {
      source: {
        command: counted("source", `setsid sleep 60 & ${slow}; echo ${words} > {outputs.text}`),
        gives: { text: "file" },
      },
      attempt: {
        durable: true,
        needs: ["source.text"],
        command: counted(
          "attempt",
          `${slow}; mkdir {outputs.all}/deep; cp {inputs.text} {outputs.all}/deep/a; echo b > {outputs.all}/b; chmod +x {outputs.all}/b`,
        ),
        gives: { all: "dir" },
      },
      other: { command: counted("other", `${slow}; echo other > {outputs.text}`), gives: { text: "file" } },
      joined: {
        needs: { all: "attempt.all", text: "other.text" },
        command: counted("joined", `${slow}; cat {inputs.all}/deep/a {inputs.text} > {outputs.text}`),
        gives: { text: "file" },
      },
      gather: {
        collect: ["joined.text", "attempt.all"],
        command: counted(
          "gather",
          `${slow}; cp {inputs.manifest} {outputs.tables}/${report}.json; mkdir {outputs.tables}/${report}; cat "$(dirname {inputs.manifest})"/members/*-text > {outputs.tables}/${report}/text`,
        ),
        gives: { tables: "dir" },
      },
    },
  };
  repository.write(`pipelines/${name}.yaml`, JSON.stringify({ formatVersion: 1, name, ...pipeline }));
}

const runArguments = (name: string, root: string) => ["run", name, "--json", "--root", root, "--jobs", "1"];

const run = (name: string, root: string, through: string[] = []): Promise<ProgramOutput> =>
  startProgram(repository.path, runArguments(name, root), { through }).ended;

async function runWell(name: string, root: string, through: string[] = []): Promise<ProgramOutput> {
  const said = await run(name, root, through);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  return said;
}

function executions(root: string): Record<string, number> {
  const file = join(root, "executions");
  const counts: Record<string, number> = {};
  const names = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

type Scene = {
  name: string;
  /** The start of a disturbed run; empty if undefined. */
  warm?: string;
  /** Of an undisturbed run. */
  expected: EndState;
  /** What such a run executes. */
  executed: string[];
  /** Its calls that change the disk. */
  calls: Call[];
};

const traced = [
  ...["rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "fsync", "fdatasync"],
  ...["openat", "write", "mkdir", "mkdirat", "rmdir", "ftruncate", "chmod", "fchmodat", "copy_file_range"],
];

/** A folder in the state that the scene describes. */
function begin({ warm }: Pick<Scene, "warm">): string {
  const root = newRoot();
  if (warm) cpSync(warm, root, { recursive: true, preserveTimestamps: true });
  else mkdirSync(root);
  rmSync(join(root, "executions"), { force: true });
  return root;
}

async function setScene(name: string, warm?: string): Promise<Scene> {
  const scene = { name, ...(warm && { warm }) };
  const undisturbed = begin(scene);
  await runWell(name, undisturbed);
  const watched = begin(scene);
  const log = `${watched}.calls`;
  const said = await runTraced(repository.path, runArguments(name, watched), { calls: traced, log });
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const expected = endState(undisturbed);
  assert.deepEqual(endState(watched), expected, "two runs of the same end alike");
  const calls = callsIn(log).filter((call) => changes(call, watched));
  return { ...scene, expected, executed: Object.keys(executions(undisturbed)).sort(), calls };
}

/** What must hold in `root` after a disturbed run and the run that follows it. */
async function recovers(
  scene: Scene,
  root: string,
  hint: string,
  may: "leave no more" | "leave more" = "leave no more",
): Promise<void> {
  const idle = () =>
    !spawnersLeft() &&
    startedForAttempts(root).length === 0 &&
    stageProcesses(root).every((program) => program === "sleep");
  await until("what the killed runner had started to end by itself", idle);
  const before = executions(root);
  const recorded = recordedStages(root, scene.expected);
  const next = await run(scene.name, root);
  const story = `${hint}; then:\n${next.stdout}${next.stderr}`;
  assert.equal(next.code, 0, story);
  const done = outcomes(next);
  const counts = executions(root);
  for (const stage of scene.executed) {
    if (recorded.has(stage)) assert.equal(done[stage], "reused", `${stage} was recorded; ${story}`);
    const more = done[stage] === "reused" ? 0 : 1;
    assert.equal(counts[stage] ?? 0, (before[stage] ?? 0) + more, `${stage}; ${story}`);
    assert.ok(counts[stage]! <= 2, `${stage} ran again and again; ${story}`);
  }
  const state = endState(root);
  if (may === "leave more") forgetUnused(state, scene.expected);
  assert.deepEqual(state, scene.expected, story);
  assert.deepEqual(stageProcesses(root), [], story);
  removeFolder(root);
}

/**
 * A failed stage has its place in a manifest, which is content, and a report of it an action. A lease that could
 * not be removed belonged to its owner, which is gone.
 */
function forgetUnused(state: EndState, expected: EndState): void {
  state.leases = [];
  const whole = (path: string) => /^[0-9a-f]\/?[0-9a-f]{63}$/.test(path);
  for (const kind of ["blobs", "actions"] as const) {
    for (const path of Object.keys(state[kind]))
      if (whole(path) && !(path in expected[kind])) delete state[kind][path];
  }
}

/** Disturbs one run by a fault; returns its output and the call that was hit. */
async function disturb(
  scene: Scene,
  root: string,
  fault: Fault,
): Promise<{ said: ProgramOutput; hit: Call | undefined }> {
  const log = `${root}.calls`;
  const said = await runTraced(repository.path, runArguments(scene.name, root), {
    calls: [fault.call],
    log,
    fault,
  });
  const killed = fault.what === "signal=SIGKILL";
  const hit = killed ? callsIn(log).findLast(({ name }) => name === fault.call) : failedCall(log);
  rmSync(log);
  return { said, hit };
}

/** Two at a time: the machines have two cores, and half of a run is waiting. */
async function forEach<T>(all: T[], visit: (one: T) => Promise<void>): Promise<void> {
  const rest = all.values();
  const worker = async () => {
    for (const one of rest) await visit(one);
  };
  await Promise.all([worker(), worker()]);
}

/** Kills at the n-th call, for each n below `from` in the list, and on from there until a run survives. */
async function killAtEach(scene: Scene, call: string, most: number): Promise<number> {
  const known = scene.calls.filter(({ name }) => name === call).map(({ ordinal }) => ordinal);
  if (known.length === 0) return 0;
  let kills = 0;
  const visit = async (ordinal: number): Promise<boolean> => {
    const root = begin(scene);
    const { said, hit } = await disturb(scene, root, { call, ordinal, what: "signal=SIGKILL" });
    if (said.code === 0) {
      await recovers(scene, root, `survived ${call} ${ordinal}`);
      return true;
    }
    assert.equal(said.signal, "SIGKILL", said.stdout + said.stderr);
    kills++;
    await recovers(scene, root, `killed at ${call} ${ordinal}: ${hit?.line}`);
    return false;
  };
  await forEach(sample(known, most, random), async (ordinal) => void (await visit(ordinal)));
  // the list may be a little short, see above
  for (let beyond = known.at(-1)! + 1; !(await visit(beyond)); beyond += full ? 1 : 8);
  return kills;
}

const skip = lacking("strace", "strace");

/** Each kind with how many of its calls are tried; more of them if a kill leaves a name half done. */
const kinds: [string, number][] = [
  ...["rename", "renameat2", "link", "linkat", "unlink", "fsync"].map((call): [string, number] => [
    call,
    full ? 1e6 : 2,
  ]),
  ["unlinkat", full ? 1e6 : 2],
  ["openat", full ? 1e6 : 2],
  ["write", full ? 1e6 : 2],
  ...["mkdir", "mkdirat", "rmdir", "ftruncate", "chmod"].map((call): [string, number] => [
    call,
    full ? 1e6 : 1,
  ]),
];

test("after kill -9 of the runner at every call by which a first run changes the disk, the next run ends as a clean one, and repeats nothing recorded", {
  skip,
}, async (t) => {
  define("swept");
  const scene = await setScene("swept");
  assert.deepEqual(scene.executed, ["attempt", "gather", "joined", "other", "source"]);
  for (const [call, most] of full ? kinds : drawn(kinds, Math.ceil(kinds.length / 3))) {
    const kills = await killAtEach(scene, call, most);
    if (kills > 0) t.diagnostic(`${kills} kills at ${call}`);
  }
});

test("after kill -9 while the results of an edited pipeline replace older ones, neither the older ones nor half of the newer remain", {
  skip,
}, async (t) => {
  define("edited");
  const warm = newRoot();
  await runWell("edited", warm);
  define("edited", { report: "newer" });
  const scene = await setScene("edited", warm);
  assert.deepEqual(scene.executed, ["gather"]);
  assert.deepEqual(Object.keys(scene.expected.results), [
    "edited/default/newer.json",
    "edited/default/newer/text",
  ]);
  const replacing = ["rename", "renameat2", "unlink", "openat", "fsync"];
  for (const call of full ? replacing : drawn(replacing, 2)) {
    const kills = await killAtEach(scene, call, full ? 1e6 : 2);
    if (kills > 0) t.diagnostic(`${kills} kills at ${call}`);
  }
});

const noTrace = (said: ProgramOutput, hint: string) =>
  assert.doesNotMatch(said.stderr + said.stdout, /^\s+at |bug:|This is a bug in mlrb|TypeError/m, hint);

test("any failed call leads to a cause and a fix or no harm, never a wrong result, and the next run completes", {
  skip,
}, async (t) => {
  define("failing");
  const scene = await setScene("failing");
  const errors: [string, string[]][] = [
    ["fsync", ["EIO", "ENOSPC"]],
    ["write", ["ENOSPC", "EIO"]],
    ["rename", ["EIO", "ENOSPC", "EROFS"]],
    ["openat", ["EROFS", "ENOSPC", "EIO"]],
    ["mkdir", ["ENOSPC"]], // Node's own recursion takes other codes for ENOENT
    ["link", ["EIO", "EROFS"]],
    ["unlink", ["EIO", "EROFS"]],
  ];
  let hits = 0;
  let failures = 0;
  for (const [call, codes] of errors) {
    const known = scene.calls.filter(({ name }) => name === call);
    await forEach([...sample(known, 3, random).entries()], async ([at, { ordinal }]) => {
      const code = codes[at % codes.length]!;
      const root = begin(scene);
      const { said, hit } = await disturb(scene, root, { call, ordinal, what: `error=${code}` });
      if (!hit || !changes(hit, root)) return; // shifted to a call that does not change the disk: nothing is promised
      hits++;
      const hint = `${code} at ${call} ${ordinal}: ${hit.line}\n${said.stdout}${said.stderr}`;
      noTrace(said, hint);
      if (said.code !== 0) {
        failures++;
        assert.equal(said.code, 1, hint);
        assert.match(
          said.stdout + said.stderr,
          /free some, or choose another --root|check it before running again|read-only; choose another --root/,
          hint,
        );
      }
      for (const [path, bytes] of Object.entries(endState(root).results))
        assert.equal(bytes, scene.expected.results[path], hint);
      if (said.code === 0) assert.deepEqual(endState(root).results, scene.expected.results, hint);
      await recovers(scene, root, hint, "leave more");
    });
  }
  t.diagnostic(`${hits} calls failed, ${failures} runs with them`);
  assert.ok(hits >= 12 && failures >= 5, `only ${hits} calls and ${failures} runs failed`);
});

test("after a power cut at several moments, reported attempts are complete, and the next run on that disk completes as a clean one", {
  skip: lacking("mkfs.ext4", "e2fsprogs"),
}, async (t) => {
  const slow = "slow"; // a file that slows stages down while it exists
  define("powered", { slow: `test -e "$MLRB_WORK/../../../../${slow}" && sleep 0.4; true` });
  const clean = newRoot();
  await runWell("powered", clean);
  const expected = endState(clean);
  const disk = mounted(
    t,
    makeDisk({ image: join(above, "disk.img"), folder: join(above, "disk"), bytes: 24 << 20 }),
  );
  if (!disk) return;

  const root = join(disk.folder, "root");
  mkdirSync(root);
  writeFileSync(join(root, slow), "");
  const running = startProgram(repository.path, runArguments("powered", root));
  const cuts: { image: string; reported: string[] }[] = [];
  let ended = false;
  void running.ended.then(() => {
    ended = true;
  });
  for (let seen = -1; !ended; await sleep(25)) {
    // after each report, and a few in between
    const reported = succeeded(running.stdout());
    if (reported.length === seen && Math.floor(Date.now() / 25) % 12 !== 0) continue;
    seen = reported.length;
    const image = join(above, `cut-${cuts.length}.img`);
    if (await powerCut(disk, image)) cuts.push({ image, reported });
  }
  assert.equal((await running.ended).code, 0, running.stderr());
  const last = join(above, "cut-last.img");
  assert.ok(await powerCut(disk, last), "the disk is quiet after the run");
  cuts.push({ image: last, reported: succeeded(running.stdout()) });
  disk.unmount();
  assert.ok(cuts.length >= 6, `${cuts.length} cuts`);

  let kept = 0;
  for (const { image, reported } of cuts) {
    const folder = `${image}.mounted`;
    const after = mounted(t, mountDisk({ image, folder }));
    if (!after) return;
    const at = join(folder, "root");
    const hint = `reported before the cut: ${reported.join(", ") || "nothing"}`;
    const records = recordsIn(at); // throws on a torn one
    if (reported.includes("attempt")) assert.equal(records.length, 1, `the attempt is lost; ${hint}`);
    if (records.length > 0)
      assert.deepEqual(endState(at).attempts, expected.attempts, `it is not whole; ${hint}`);
    kept += records.length;
    rmSync(join(at, slow), { force: true });
    otherBoot(at);
    const next = await run("powered", at);
    assert.equal(next.code, 0, `${hint}\n${next.stdout}${next.stderr}`);
    assert.equal(outcomes(next).attempt, records.length > 0 ? "reused" : "succeeded", hint);
    assert.deepEqual(endState(at), expected, hint);
    after.unmount();
    rmSync(image);
  }
  t.diagnostic(`${cuts.length} cuts, ${kept} with the attempt`);
  assert.ok(kept > 0 && kept < cuts.length, "cuts before the record and after it");
});

test("if a power cut tore contents with intact entries, the next run finds them by itself, and makes the cheap ones again but not the attempt", async () => {
  define("torn", { slow: `test -e "$MLRB_WORK/../../../../slow" && sleep 20; true` });
  const clean = begin({});
  await runWell("torn", clean);
  const root = begin({});
  const killed = startProgram(repository.path, runArguments("torn", root));
  await until("the report of the attempt", () => {
    const reported = succeeded(killed.stdout()).includes("attempt");
    if (executions(root).attempt === 1) writeFileSync(join(root, "slow"), "");
    return reported;
  });
  killed.child.kill("SIGKILL");
  await killed.ended;
  rmSync(join(root, "slow"));
  otherBoot(root);
  const blobs = join(root, ".mlrb/cache/blobs");
  for (const path of Object.keys(filesBelow(blobs))) {
    const { mode } = statSync(join(blobs, path));
    chmodSync(join(blobs, path), 0o600); // only root may write read-only files
    truncateSync(join(blobs, path), 0);
    chmodSync(join(blobs, path), mode);
  }
  const next = outcomes(await runWell("torn", root));
  assert.deepEqual([next.source, next.attempt], ["succeeded", "reused"]);
  assert.deepEqual(endState(root), endState(clean));
});

/** Makes all owners on a disk those of an earlier boot, as after a power cut. */
function otherBoot(root: string): void {
  const folders = [join(root, ".mlrb/leases"), join(root, ".mlrb/work")].filter((folder) =>
    existsSync(folder),
  );
  for (const folder of folders) {
    for (const [path, text] of Object.entries(filesBelow(folder))) {
      if (!/"boot":/.test(text)) continue; // torn
      writeFileSync(join(folder, path), text.replace(/"boot":"[^"]*"/, '"boot":"before"'));
    }
  }
}

/** Unmounted at the end of the test; undefined (after a skip) if it cannot be mounted. */
function mounted(t: TestContext, disk: LoopDisk | string): LoopDisk | undefined {
  if (typeof disk === "string") {
    t.skip(`no file system can be mounted here: ${disk}`);
    return undefined;
  }
  t.after(() => disk.unmount());
  return disk;
}

function succeeded(stdout: string): string[] {
  return parseLines(stdout)
    .filter(({ event, outcome }) => event === "stage" && outcome === "succeeded")
    .map(({ stage }) => stage as string);
}

test("with a clock that jumps ten years ahead and twenty back, reuse is right, kills are recovered from, and runs of both times share the work", {
  skip: lacking("faketime", "faketime"),
}, async () => {
  const away = (by: string) => ["env", ...Object.entries(wrongClock(by)).map((entry) => entry.join("="))];
  const ahead = away("+10y");
  const back = away("-10y");
  define("timed", { slow: "sleep 0.2" });
  const clean = newRoot();
  await runWell("timed", clean);
  const expected = endState(clean);
  const once = { attempt: 1, gather: 1, joined: 1, other: 1, source: 1 };

  const first = begin({});
  await runWell("timed", first, ahead);
  assert.deepEqual(endState(first), expected);
  for (const through of [back, [], ahead, back]) {
    assert.deepEqual(
      new Set(Object.values(outcomes(await runWell("timed", first, through)))),
      new Set(["reused"]),
    );
    assert.deepEqual(endState(first), expected);
  }
  assert.deepEqual(executions(first), once);

  define("timed", { slow: "sleep 0.2", report: "newer" });
  const edited = outcomes(await runWell("timed", first, back));
  assert.deepEqual(edited, {
    source: "reused",
    attempt: "reused",
    other: "reused",
    joined: "reused",
    gather: "succeeded",
  });
  assert.deepEqual(Object.keys(endState(first).results), [
    "timed/default/newer.json",
    "timed/default/newer/text",
  ]);
  define("timed", { slow: "sleep 0.2" });

  for (const [then, now] of [
    [ahead, back],
    [back, ahead],
  ] as const) {
    const killedRoot = begin({});
    const killed = startProgram(repository.path, runArguments("timed", killedRoot), { through: [...then] });
    await until("an attempt that runs", () => executions(killedRoot).attempt === 1);
    // env replaces itself by the program, so this is the runner
    killed.child.kill("SIGKILL");
    await killed.ended;
    const next = outcomes(await runWell("timed", killedRoot, [...now]));
    assert.equal(next.source, "reused");
    assert.deepEqual(endState(killedRoot), expected);
    assert.deepEqual(stageProcesses(killedRoot), []);

    const shared = begin({});
    await Promise.all([runWell("timed", shared, [...then]), runWell("timed", shared, [...now])]);
    assert.deepEqual(executions(shared), once);
    assert.deepEqual(endState(shared), expected);
  }
});
