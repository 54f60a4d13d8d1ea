import assert from "node:assert/strict";
import fs, {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { type Clock, look } from "./heartbeat.ts";
import {
  type Card,
  type Lease,
  type LeaseWait,
  releaseDead,
  releaseSilent,
  takeLease,
  tryLease,
} from "./lease.ts";
import { thisProcess } from "./owner.ts";

/** A folder of leases, and the cards that a test needs. */
function scene(t: TestContext) {
  const above = mkdtempSync(join(tmpdir(), "mlrb-lease-"));
  t.after(() => rmSync(above, { recursive: true }));
  const leases = join(above, "leases");
  mkdirSync(leases);
  let cards = 0;
  const card = (changed: Partial<Owner> = {}): Card => {
    const owner = { ...thisProcess(), ...changed };
    const path = join(above, `card-${++cards}`);
    writeFileSync(path, JSON.stringify(owner));
    return { path, owner };
  };
  return { leases, card, lease: join(leases, "work") };
}

const elsewhere = { host: "gpu2", boot: "b2", pid: 17, started: "5" };

/** Time that passes only during a sleep. `each` is called after every sleep. */
function fakeClock(each: (ms: number) => void = () => {}): Clock & { ms: number } {
  const time = {
    ms: 0,
    now: () => time.ms,
    sleep: async (ms: number) => {
      time.ms += ms;
      if (time.ms > 3_600_000) throw new Error("it waits for ever");
      each(time.ms);
    },
  };
  return time;
}

function taken(lease: Awaited<ReturnType<typeof takeLease>>): Lease {
  assert.ok(lease && "release" in lease, JSON.stringify(lease));
  return lease;
}

test("a lease has one holder; the next process learns the holder and takes the lease once it is released", async (t) => {
  const { leases, card } = scene(t);
  const first = tryLease(leases, "work", card());
  assert.ok("release" in first && first.isHeld());
  const second = tryLease(leases, "work", card());
  assert.ok("heldBy" in second);
  assert.equal(second.heldBy.pid, process.pid);
  const waited: number[] = [];
  const time = fakeClock((ms) => {
    waited.push(ms);
    if (waited.length === 3) first.release();
  });
  const third = taken(await takeLease(leases, "work", { card: card(), clock: time }));
  assert.equal(waited.length, 3);
  assert.equal(third.from, undefined);
  assert.ok(!first.isHeld() && third.isHeld());
  third.release();
  assert.deepEqual(readdirSync(leases), []);
});

test("a dead owner's lease is taken over at once, even a durable one", async (t) => {
  for (const changed of [{ pid: 2 ** 22 + 1 }, { started: "1" }, { boot: "earlier" }]) {
    const { leases, card, lease } = scene(t);
    linkSync(card(changed).path, lease);
    const time = fakeClock();
    taken(await takeLease(leases, "work", { card: card(), durable: true, clock: time }));
    assert.equal(time.ms, 0, JSON.stringify(changed));
    assert.deepEqual(readdirSync(leases), ["work"]);
  }
});

test("a run waits for another host's lease for as long as that host's heart beats", async (t) => {
  const { leases, card, lease } = scene(t);
  const theirs = card(elsewhere);
  linkSync(theirs.path, lease);
  let beats = 0;
  const time = fakeClock((ms) => {
    if (ms % 30_000 === 0) utimesSync(theirs.path, ++beats, beats);
    if (ms === 1_800_000) rmSync(lease); // the work ends after half an hour
  });
  for (const wait of [{ durable: true }, { durable: true, takeOver: true }, {}] as LeaseWait[]) {
    time.ms = 0;
    rmSync(lease, { force: true });
    linkSync(theirs.path, lease);
    const told: Owner[] = [];
    const options = { ...wait, card: card(), clock: time, waiting: (owner: Owner) => told.push(owner) };
    const mine = taken(await takeLease(leases, "work", options));
    assert.equal(mine.from, undefined);
    assert.deepEqual(
      told.map(({ host, pid }) => `${host} ${pid}`),
      ["gpu2 17"],
    );
    assert.ok(time.ms >= 1_800_000);
  }
});

test("a silent host's lease that is not durable is taken over after a minute, and names its earlier owner", async (t) => {
  const { leases, card, lease } = scene(t);
  linkSync(card(elsewhere).path, lease);
  const time = fakeClock();
  const mine = taken(await takeLease(leases, "work", { card: card(), clock: time }));
  assert.equal(mine.from?.owner.host, "gpu2");
  assert.ok(mine.from.silentMs >= 60_000);
  assert.ok(time.ms >= 60_000 && time.ms < 62_000, `${time.ms}`);
  assert.equal(look(lease)?.owner.pid, process.pid);
  assert.deepEqual(readdirSync(leases), ["work"], "nothing is left aside");
});

test("a silent host's durable lease is kept: the wait ends and names the host; only --take-over takes it", async (t) => {
  const { leases, card, lease } = scene(t);
  linkSync(card(elsewhere).path, lease);
  const wait = { card: card(), durable: true, silentMs: 8_000 };
  const ended = await takeLease(leases, "work", { ...wait, clock: fakeClock() });
  assert.ok(ended && "silent" in ended);
  assert.equal(ended.silent.host, "gpu2");
  assert.ok(ended.silentMs >= 8_000);
  assert.equal(look(lease)?.owner.host, "gpu2");
  const time = fakeClock();
  const mine = taken(await takeLease(leases, "work", { ...wait, clock: time, takeOver: true }));
  assert.ok(time.ms >= 8_000, "silence is watched first, whatever the word");
  assert.equal(mine.from?.owner.host, "gpu2");
});

test("a container of this machine, with a process of the same number, is judged by its heartbeat alone", async (t) => {
  if (process.platform !== "linux") return t.skip("there are no process tables to tell apart");
  const { leases, card, lease } = scene(t);
  linkSync(card({ table: "pid:[1]", pid: 2 ** 22 + 1 }).path, lease);
  const ended = await takeLease(leases, "work", { card: card(), durable: true, clock: fakeClock() });
  assert.ok(ended && "silent" in ended, "its process is in no table here, and that proves nothing");
});

test("a beat in the last moment before a takeover saves the lease", async (t) => {
  const { leases, card, lease } = scene(t);
  const theirs = card(elsewhere);
  linkSync(theirs.path, lease);
  const time = fakeClock((ms) => {
    if (ms === 59_750) utimesSync(theirs.path, 7, 7);
  });
  const ended = await takeLease(leases, "work", { card: card(), durable: true, clock: time });
  assert.ok(ended && "silent" in ended);
  assert.ok(time.ms >= 59_750 + 60_000);
});

test("silence is counted again if a lease goes from a dead host to a living one during the wait", async (t) => {
  const { leases, card, lease } = scene(t);
  const living = card({ ...elsewhere, host: "gpu3" });
  linkSync(card(elsewhere).path, lease);
  const told: string[] = [];
  let beats = 0;
  const time = fakeClock((ms) => {
    if (ms === 50_000) {
      rmSync(lease);
      linkSync(living.path, lease);
    }
    if (ms % 10_000 === 0 && ms < 600_000) utimesSync(living.path, ++beats, beats);
    if (ms === 600_000) rmSync(lease);
  });
  const mine = taken(
    await takeLease(leases, "work", { card: card(), clock: time, waiting: ({ host }) => told.push(host) }),
  );
  assert.deepEqual(told, ["gpu2", "gpu3"]);
  assert.equal(mine.from, undefined);
  assert.equal(time.ms, 600_000);
});

test("a run that slept does not hold a lease that another run took, and releasing it removes nothing", (t) => {
  const { leases, card, lease } = scene(t);
  const mine = taken(tryLease(leases, "work", card()) as Lease);
  rmSync(lease);
  linkSync(card(elsewhere).path, lease);
  assert.equal(mine.isHeld(), false);
  mine.release();
  assert.equal(look(lease)?.owner.host, "gpu2");
});

test("waiting ends when the run is stopped", async (t) => {
  const { leases, card, lease } = scene(t);
  linkSync(card(elsewhere).path, lease);
  const time = fakeClock();
  const ended = await takeLease(leases, "work", { clock: time, stopped: () => time.ms > 1_000 });
  assert.equal(ended, undefined);
  assert.deepEqual(readdirSync(leases), ["work"], "a card that was written for the occasion goes again");
});

test("a run whose own card is gone takes no lease, and reports why", (t) => {
  const { leases, card } = scene(t);
  const mine = card();
  rmSync(mine.path);
  assert.throws(() => tryLease(leases, "work", mine), {
    code: "ENOENT",
    message: /the card that names this run is gone.*--take-over.*run again/,
  });
});

test("clearing releases the leases of dead owners and no others", (t) => {
  const { leases, card } = scene(t);
  for (const [name, changed] of Object.entries({
    alive: {},
    dead: { started: "1" },
    earlier: { boot: "b0" },
    elsewhere,
  }))
    linkSync(card(changed).path, join(leases, name));
  writeFileSync(join(leases, "torn"), "{");
  writeFileSync(join(leases, "work.17.on-its-way"), "{");
  releaseDead(leases);
  assert.deepEqual(readdirSync(leases).sort(), ["alive", "elsewhere", "work.17.on-its-way"]);
  assert.ok(existsSync(join(leases, "alive")));
});

/** Calls `before` and `after` around the next move of a lease, to simulate other runs. */
function onMove(t: TestContext, { before = () => {}, after = () => {} }): void {
  const { renameSync } = fs;
  let moves = 0;
  replace(t, "renameSync", (from: string, to: string) => {
    if (++moves > 1) return renameSync(from, to);
    before();
    renameSync(from, to);
    after();
  });
}

/** Replaces a function of node:fs until it is restored, at the latest at the end of this test. */
function replace(
  t: TestContext,
  name: "renameSync" | "unlinkSync" | "linkSync",
  by: (...args: never[]) => void,
) {
  const { mock } = t.mock.method(fs, name, by as never);
  syncBuiltinESMExports();
  const restore = () => {
    mock.restore();
    syncBuiltinESMExports();
  };
  t.after(restore);
  return restore;
}

const dead = { boot: "b0" };
const pidOf = (lease: string) => look(lease)?.owner.pid;

test("a lease that looked dead and turns out to be fresh after the move is put back", (t) => {
  const { leases, card, lease } = scene(t);
  linkSync(card(dead).path, lease);
  const fresh = card();
  let ino: number | undefined;
  onMove(t, {
    before() {
      rmSync(lease);
      linkSync(fresh.path, lease);
      ino = statSync(lease).ino;
    },
  });
  const mine = tryLease(leases, "work", card());
  assert.ok("heldBy" in mine, "it is the other run's");
  assert.equal(statSync(lease).ino, ino);
  assert.deepEqual(readdirSync(leases), ["work"], "nothing is left aside");
});

test("a silent lease whose owner has beaten in the meantime is put back", (t) => {
  const { leases, card, lease } = scene(t);
  const theirs = card(elsewhere);
  linkSync(theirs.path, lease);
  const { beat } = look(lease)!;
  utimesSync(theirs.path, 7, 7);
  releaseSilent(leases, "work", beat);
  assert.equal(statSync(lease).ino, statSync(theirs.path).ino);
  assert.deepEqual(readdirSync(leases), ["work"]);
});

test("a silent lease without a new beat is released", (t) => {
  const { leases, card, lease } = scene(t);
  linkSync(card(elsewhere).path, lease);
  releaseSilent(leases, "work", look(lease)!.beat);
  assert.deepEqual(readdirSync(leases), []);
});

test("a fresh lease is not put back over the lease that a third run has taken by then", (t) => {
  const { leases, card, lease } = scene(t);
  linkSync(card(elsewhere).path, lease);
  onMove(t, { after: () => linkSync(card({ pid: 4 }).path, lease) });
  releaseSilent(leases, "work", "another beat");
  assert.equal(pidOf(lease), 4);
  assert.deepEqual(readdirSync(leases), ["work"]);
});

test("a run can take a dead lease that another run has removed first", (t) => {
  const { leases, card, lease } = scene(t);
  linkSync(card(dead).path, lease);
  onMove(t, {
    before() {
      rmSync(lease);
    },
    after: () => assert.fail("there is nothing to move"),
  });
  assert.ok("release" in tryLease(leases, "work", card()));
});

test("a lease without a card names this process, and leaves no other file", (t) => {
  const { leases } = scene(t);
  const folder = join(leases, "deeper");
  const lease = taken(tryLease(folder, "work") as Lease);
  assert.deepEqual(look(join(folder, "work"))?.owner.pid, process.pid);
  assert.ok(lease.isHeld());
  assert.deepEqual(readdirSync(folder), ["work"]);
});

test("a lease without a card that is not granted leaves no file either", (t) => {
  const { leases, card, lease } = scene(t);
  linkSync(card().path, lease);
  assert.ok("heldBy" in tryLease(leases, "work"));
  assert.deepEqual(readdirSync(leases), ["work"]);
});

test("a run whose card is gone learns that another run assumed it dead", (t) => {
  const { leases, card } = scene(t);
  const mine = card();
  rmSync(mine.path);
  assert.throws(() => tryLease(leases, "work", mine), {
    code: "ENOENT",
    message:
      /the card that names this run is gone: another run took this one for dead \(--take-over\).*run again/,
  });
});

test("a missing folder of leases is not reported as a missing card", (t) => {
  const { leases, card } = scene(t);
  rmSync(leases, { recursive: true });
  assert.throws(() => tryLease(leases, "work", card()), /ENOENT.*link/);
});

test("the error of a disk that refuses links is passed on", (t) => {
  const { leases, card } = scene(t);
  replace(t, "linkSync", () => {
    throw Object.assign(new Error("EROFS"), { code: "EROFS" });
  });
  assert.throws(() => tryLease(leases, "work", card()), { code: "EROFS" });
});

test("a lease that cannot be removed loses none of the work under it", (t) => {
  const { leases, card } = scene(t);
  const lease = taken(tryLease(leases, "work", card()) as Lease);
  const restore = replace(t, "unlinkSync", () => {
    throw Object.assign(new Error("EROFS"), { code: "EROFS" });
  });
  lease.release();
  restore();
  assert.ok(lease.isHeld());
});

test("a waiting process tries ten times a second for a lease of this host, four times for another host's", async (t) => {
  for (const [owner, everyMs] of [
    [{}, 100],
    [elsewhere, 250],
  ] as const) {
    const { leases, card, lease } = scene(t);
    linkSync(card(owner).path, lease);
    const times: number[] = [];
    const clock = fakeClock((ms) => times.push(ms));
    await takeLease(leases, "work", { card: card(), clock, stopped: () => times.length === 3 });
    assert.deepEqual(times, [everyMs, 2 * everyMs, 3 * everyMs]);
  }
});

test("a run waits for a lease of this host without limit and never takes it over", async (t) => {
  const { leases, card, lease } = scene(t);
  linkSync(card().path, lease);
  const clock = fakeClock();
  await takeLease(leases, "work", { card: card(), clock, takeOver: true, stopped: () => clock.ms > 90_000 });
  assert.equal(pidOf(lease), process.pid);
  assert.ok(clock.ms > 90_000);
});

test("a lease is silent from the moment its time is over", async (t) => {
  const { leases, card, lease } = scene(t);
  linkSync(card(elsewhere).path, lease);
  const clock = fakeClock();
  const mine = taken(await takeLease(leases, "work", { card: card(), clock, silentMs: 1_000 }));
  assert.equal(mine.from?.silentMs, 1_000);
});

test("a lease that was taken over is held, and can be released", async (t) => {
  const { leases, card, lease } = scene(t);
  linkSync(card(elsewhere).path, lease);
  const mine = taken(await takeLease(leases, "work", { card: card(), clock: fakeClock() }));
  assert.ok(mine.isHeld());
  mine.release();
  assert.ok(!existsSync(lease));
});
