import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { leftRestorePoint } from "@mlrb/kit/attempts/left-restore-point";
import { plainSandbox } from "../sandbox/plain-sandbox.ts";
import { base } from "../testing/scripted-scaffold.ts";
import { RestorePointKeeper } from "./restore-point-keeper.ts";

async function keeping(t: TestContext) {
  const folder = base(t);
  const sandbox = await plainSandbox(join(folder, "one"));
  t.after(() => sandbox.close());
  const root = sandbox.seenAs("");
  mkdirSync(join(root, "workspace/data"), { recursive: true });
  writeFileSync(join(root, "workspace/data/given"), "given");
  const events: TrajectoryEvent[] = [];
  const clock = { after: 0, workingMs: 0 };
  const open = () =>
    new RestorePointKeeper({
      sandbox,
      folder: join(folder, "restore-points"),
      pauseMs: 10,
      write: (event) => void events.push(event),
      ...{ folders: ["workspace", "home"], without: ["workspace/data"], now: () => ({ ...clock }) },
    });
  /** Takes one restore point. */
  const take = async (keeper: RestorePointKeeper) => {
    const before = events.length;
    clock.workingMs += 1e6;
    clock.after += 10;
    keeper.look();
    while (events.length === before) await new Promise((resolve) => setTimeout(resolve, 2));
    await new Promise((resolve) => setImmediate(resolve));
    return events.at(-1) as Extract<TrajectoryEvent, { event: "restore-point" }>;
  };
  return { folder, root, keeper: open(), open, take, events, clock };
}

const blocks = (path: string) => Number(execFileSync("du", ["-sk", path]).toString().split("\t")[0]);

test("a restore point copies only what changed, keeps holes, and leaves out what was given", async (t) => {
  const { folder, root, keeper, take } = await keeping(t);
  const at = (path: string) => join(root, path);
  writeFileSync(at("workspace/large"), Buffer.alloc(2 << 20, 1));
  truncateSync(at("workspace/large"), 100 * 2 ** 30);
  writeFileSync(at("workspace/train.py"), "print(1)\n");
  const first = await take(keeper);
  assert.equal(first.event, "restore-point", JSON.stringify(first));
  assert.equal(first.copiedBytes, 100 * 2 ** 30 + 9);
  assert.ok(blocks(join(folder, "restore-points")) < 4096, "the holes take no room");
  writeFileSync(at("workspace/train.py"), "print(22)\n");
  const second = await take(keeper);
  assert.deepEqual([second.name, second.copiedBytes, second.torn, second.after], ["0002", 10, 0, 20]);
  const { restorePoint } = leftRestorePoint(join(folder, "restore-points"))!;
  assert.deepEqual(restorePoint.entries.map(({ path }) => path).sort(), [
    "workspace/large",
    "workspace/train.py",
  ]);
});

test("a new sandbox gets the files of the newest restore point: bytes, links, empty folders, modes and times", async (t) => {
  const { folder, root, keeper, take } = await keeping(t);
  const at = (path: string) => join(root, path);
  mkdirSync(at("workspace/empty"));
  mkdirSync(at("home/.cli"));
  writeFileSync(at("home/.cli/session.json"), "{}");
  writeFileSync(at("workspace/run.sh"), "true\n");
  chmodSync(at("workspace/run.sh"), 0o755);
  symlinkSync("../../../../etc/passwd", at("workspace/link"));
  await take(keeper);
  writeFileSync(at("workspace/later"), "x");
  const other = await plainSandbox(join(folder, "two"));
  t.after(() => other.close());
  const left = leftRestorePoint(join(folder, "restore-points"))!;
  await other.restore!(join(folder, "restore-points/contents"), left.restorePoint);
  const there = (path: string) => join(other.seenAs(""), path);
  assert.deepEqual(readdirSync(there("workspace")).sort(), ["empty", "link", "run.sh"]);
  assert.equal(readFileSync(there("home/.cli/session.json"), "utf8"), "{}");
  assert.equal(readlinkSync(there("workspace/link")), "../../../../etc/passwd");
  assert.equal(statSync(there("workspace/run.sh")).mode & 0o777, 0o755);
  const [was, is] = [at, there].map((place) => statSync(place("workspace/run.sh")).mtimeMs);
  assert.ok(Math.abs(is! - was!) < 2);
});

test("two restore points are kept, and after a restart the next one shares the contents of the last", async (t) => {
  const { folder, root, keeper, open, take, events } = await keeping(t);
  for (const text of ["1", "22", "333"]) {
    writeFileSync(join(root, "workspace/a"), text);
    await take(keeper);
  }
  const names = () => readdirSync(join(folder, "restore-points")).sort();
  assert.deepEqual(names(), ["0002.json", "0003.json", "contents"]);
  assert.equal(readdirSync(join(folder, "restore-points/contents")).length, 2);
  const again = open();
  const fourth = await take(again);
  assert.deepEqual([fourth.name, fourth.copiedBytes], ["0004", 0]);
  assert.equal(events.length, 4);
});

test("after a restart the next restore point is taken, whatever was deleted or cut short before, and only what it needs is kept", async (t) => {
  const { folder, root, keeper, open, take, events } = await keeping(t);
  for (const name of ["a", "b", "c"]) writeFileSync(join(root, "workspace", name), name);
  await take(keeper);
  for (const name of ["b", "c"]) rmSync(join(root, "workspace", name));
  await take(keeper);
  const contents = join(folder, "restore-points/contents");
  writeFileSync(join(contents, "00000009"), "half of a copy");
  writeFileSync(join(root, "workspace/d"), "d");
  const third = await take(open());
  assert.deepEqual([third.event, third.name, events.length], ["restore-point", "0003", 3]);
  assert.deepEqual(readdirSync(join(folder, "restore-points")).sort(), [
    "0002.json",
    "0003.json",
    "contents",
  ]);
  const { restorePoint } = leftRestorePoint(join(folder, "restore-points"))!;
  const held = restorePoint.entries.flatMap(({ content }) => content ?? []);
  assert.deepEqual(readdirSync(contents).sort(), held.sort());
});

test("half a copy that failed is removed at once", async (t) => {
  const folder = base(t);
  const written = Promise.withResolvers<TrajectoryEvent>();
  const keeper = new RestorePointKeeper({
    sandbox: {
      async restorePoint({ contents, newContent }) {
        writeFileSync(join(contents, newContent()), "half");
        throw new Error("no space left on device");
      },
    },
    ...{ folder, folders: ["workspace"], without: [], pauseMs: 0, write: written.resolve },
    now: () => ({ after: 1, workingMs: 1 }),
  });
  keeper.look();
  assert.deepEqual(await written.promise, {
    event: "restore-point-skipped",
    because: "no space left on device",
  });
  await keeper.stop();
  assert.deepEqual(readdirSync(join(folder, "contents")), []);
});

test("the pause after a restore point is at least fifty times as long as it took", async (t) => {
  const { root, keeper, take, events, clock } = await keeping(t);
  writeFileSync(join(root, "workspace/a"), "1");
  const { durationMs } = await take(keeper);
  clock.workingMs += Math.max(0, 49 * (durationMs - 1));
  keeper.look();
  await keeper.stop();
  assert.equal(events.length, 1);
});
