// An attempt's large files share an inode with the cache's, in spite of kills at each call, full disks, and
// records that move to other machines.
import assert from "node:assert/strict";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { endState, recordsIn } from "./support/end-state.ts";
import { counted, filesBelow, type Lab, lab, leftovers, lineOf, outcomes } from "./support/lab.ts";
import { lacking } from "./support/machines/debian-tool.ts";
import { smallDisk } from "./support/machines/small-disk.ts";
import { callsIn, runTraced } from "./support/machines/system-calls.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const mib = 1 << 20;
const records = ({ root }: Pick<Lab, "root">) => join(root, ".mlrb/attempts/records");

/** An attempt that outputs a file of `bytes` twice, and a program of the given size. */
function define(at: Lab, bytes: number, { seeds = [1], program = 0 } = {}): void {
  const more =
    program > 0
      ? `; head -c ${program} /dev/zero > {outputs.submission}/run; chmod +x {outputs.submission}/run`
      : "";
  at.define({
    axes: { seed: seeds },
    stages: {
      attempt: {
        each: ["seed"],
        durable: true,
        command: counted(
          at,
          "attempt-{seed}",
          `head -c ${bytes} /dev/zero > {outputs.submission}/model; ln {outputs.submission}/model {outputs.snapshots}/model; echo {seed} > {outputs.submission}/card${more}`,
        ),
        gives: { submission: "dir", snapshots: "dir" },
      },
    },
  });
}

/** Each file of a folder that is larger than a MiB, by its inode. */
function large(folder: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const { size, ino } = statSync(join(folder, name));
    if (size > mib) found.set(name, ino);
  }
  return found;
}

test("after kill -9 at every call by which a record gets its files, no half record exists, and the next run ends as a clean one, on one inode", {
  skip: lacking("strace", "strace"),
}, async (t) => {
  const at = lab(t, repository);
  define(at, 3 * mib);
  assert.equal((await at.run()).code, 0);
  const expected = endState(at.root);
  const argumentsFor = (root: string) => ["run", at.name, "--json", "--root", root];
  const watched = join(at.outside, "watched");
  const calls = ["link", "rename", "fsync"];
  const log = `${watched}.calls`;
  assert.equal((await runTraced(repository.path, argumentsFor(watched), { calls, log })).code, 0);
  const ofRecord = ({ line }: { line: string }) => line.includes("/.mlrb/attempts/records/tmp-");
  const ofRecords = callsIn(log).filter(ofRecord);
  assert.deepEqual(new Set(ofRecords.map(({ name }) => name)), new Set(calls));
  for (const [index, { name: call, ordinal: first, line }] of ofRecords.entries()) {
    const root = join(at.outside, `${call}-${first}`);
    const before = ofRecords.slice(0, index).filter(({ name }) => name === call).length;
    const kill = (ordinal: number) => {
      const fault = { call, ordinal, what: "signal=SIGKILL" } as const;
      return runTraced(repository.path, argumentsFor(root), { calls: [call], log, fault });
    };
    let killed = await kill(first);
    // a log is linked to when it is first seen: a run that got through names the call for the next kill
    for (let again = 0; killed.signal !== "SIGKILL" && again < 8; again++) {
      const own = callsIn(log).filter((one) => one.name === call && ofRecord(one));
      removeFolder(root);
      killed = await kill(own[before]?.ordinal ?? first);
    }
    assert.equal(killed.signal, "SIGKILL", line);
    for (const { digest } of recordsIn(root)) // throws on an incomplete record.json
      assert.equal(large(join(records({ root }), digest)).size, 2, line);
    const next = await at.pipeline(argumentsFor(root));
    assert.equal(next.code, 0, `${line}\n${next.stdout}${next.stderr}`);
    assert.deepEqual(endState(root), expected, line);
    assert.equal(new Set(large(join(root, ".mlrb")).values()).size, 1, line);
    removeFolder(root);
  }
  t.diagnostic(`${ofRecords.length} kills`);
});

test("an attempt needs space for its model once: a submission is recorded on a disk without space for a second copy", async (t) => {
  const at = smallDisk(t, repository, "8m");
  if (!at) return;
  define(at, 5 * mib);
  const said = await at.run();
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const [name] = readdirSync(records(at));
  assert.equal(readFileSync(join(records(at), name!, "snapshots/model")).length, 5 * mib);
});

test("without space for an unshared file of a record, a message names the fix, no half record exists, and with space the next run records it", async (t) => {
  const at = smallDisk(t, repository, "12m");
  if (!at) return;
  define(at, 1000, { program: 7 * mib });
  const said = await at.run();
  assert.equal(said.code, 1, said.stdout);
  const { failure, cause } = lineOf(said, "attempt[seed=1]");
  assert.equal(failure, "machine");
  assert.match(cause, /no space left on the disk; free some, or choose another --root, and run again/);
  assert.deepEqual(existsSync(records(at)) ? readdirSync(records(at)) : [], []);
  assert.deepEqual(leftovers(at), []);
  at.grow("40m");
  assert.equal((await at.run()).code, 0);
  const [name] = readdirSync(records(at));
  assert.ok(statSync(join(records(at), name!, "submission/run")).mode & 0o100);
});

test("exported records share files with each other and none with the state; imported, shared or as full copies, they are reused", async (t) => {
  const at = lab(t, repository);
  define(at, 3 * mib, { seeds: [1, 2] });
  assert.equal((await at.run()).code, 0);
  const shared = join(at.outside, "exported");
  const exported = await at.pipeline(["attempts", "export", shared, "--root", at.root]);
  assert.equal(exported.code, 0, exported.stderr);
  assert.equal(exported.stdout, "2 attempts exported\n");
  assert.equal(large(shared).size, 4);
  const inode = new Set(large(shared).values());
  assert.equal(inode.size, 1);
  assert.ok(
    !inode.has(large(records(at)).values().next().value!),
    "who writes in an export changes no attempt",
  );
  const again = await at.pipeline(["attempts", "export", shared, "--root", at.root]);
  assert.equal(again.code, 0);

  const copies = join(at.outside, "copies");
  for (const name of large(shared).keys()) {
    mkdirSync(join(copies, name, ".."), { recursive: true });
    cpSync(join(shared, name), join(copies, name));
    chmodSync(join(copies, name), 0o644);
  }
  for (const [name, text] of Object.entries(filesBelow(shared)))
    if (!large(shared).has(name)) writeFileSync(join(copies, name), text, "latin1");
  for (const from of [shared, copies]) {
    const root = `${from}-root`;
    const said = await at.pipeline(["attempts", "import", from, "--root", root]);
    assert.equal(said.stdout, "2 attempts imported\n", said.stderr);
    const run = await at.pipeline(["run", at.name, "--json", "--root", root]);
    assert.deepEqual(outcomes(run), { "attempt[seed=1]": "reused", "attempt[seed=2]": "reused" });
    assert.equal(new Set(large(join(root, ".mlrb")).values()).size, 1);
    assert.deepEqual(filesBelow(records({ root })), filesBelow(records(at)));
  }
  assert.deepEqual(at.executions(), { "attempt-1": 1, "attempt-2": 1 });

  const name = [...large(copies).keys()][0]!;
  writeFileSync(join(copies, name), Buffer.alloc(3 * mib, "other"));
  const refused = await at.pipeline(["attempts", "import", copies, "--root", join(at.outside, "refusing")]);
  assert.equal(refused.code, 1);
  assert.equal(refused.stdout, "1 attempt imported, 1 refused\n");
  assert.match(
    refused.stderr,
    new RegExp(`^refused ${name.slice(0, 12)}: its ${name.split("/")[1]} is not what its record says`),
  );
});

test("cache verify reports damage in a shared file with each attempt's name, and no attempt is repeated without a request", async (t) => {
  const at = lab(t, repository);
  define(at, 3 * mib, { seeds: [1, 2] });
  await sleep(1100); // so that a run with nothing to do takes its fast path
  await at.run();
  const [name] = readdirSync(records(at));
  const path = join(records(at), name!, "submission/model");
  const original = readFileSync(path);
  chmodSync(path, 0o644);
  writeFileSync(path, "short");
  const verify = await at.pipeline(["cache", "verify", "--root", at.root]);
  assert.equal(verify.code, 1);
  for (const one of readdirSync(records(at)))
    for (const file of ["submission/model", "snapshots/model"])
      assert.ok(
        verify.stdout.includes(
          `attempt ${one.slice(0, 12)} is damaged: its ${file} is the same file; put the original back`,
        ),
        verify.stdout,
      );
  const said = await at.run();
  assert.equal(said.code, 1);
  assert.match(
    said.stdout,
    /is damaged: it was changed: its snapshots is not what its record says \(model\)/,
  );
  assert.doesNotMatch(said.stderr, /^\s+at /m);
  writeFileSync(path, original);
  assert.deepEqual(outcomes(await at.run()), { "attempt[seed=1]": "reused", "attempt[seed=2]": "reused" });
  assert.deepEqual(at.executions(), { "attempt-1": 1, "attempt-2": 1 });
});
