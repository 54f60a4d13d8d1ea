import assert from "node:assert/strict";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { attemptFolders, makeAttemptFolder } from "../attempts/attempt-folders.ts";
import { exampleCard } from "../testing/example-record.ts";
import type { Clock } from "./heartbeat.ts";
import { thisProcess } from "./owner.ts";
import { takeOver } from "./take-over.ts";

/** A state folder with one run per name, each with a lease of that name. */
function state(t: TestContext, runs: Record<string, Partial<Owner>>) {
  const above = mkdtempSync(join(tmpdir(), "mlrb-take-over-"));
  t.after(() => rmSync(above, { recursive: true }));
  const at = {
    ...{ work: join(above, "work"), leases: join(above, "leases") },
    running: join(above, "attempts/running"),
  };
  for (const folder of Object.values(at)) mkdirSync(folder, { recursive: true });
  for (const [name, changed] of Object.entries(runs)) {
    mkdirSync(join(at.work, name));
    const card = join(at.work, name, "owner.json");
    writeFileSync(card, JSON.stringify({ ...thisProcess(), ...changed }));
    linkSync(card, join(at.leases, name));
  }
  const cards = () =>
    readdirSync(at.work).filter((name) => readdirSync(join(at.work, name)).includes("owner.json"));
  return { ...at, leasesLeft: () => readdirSync(at.leases).sort(), cards: () => cards().sort() };
}

const on = (host: string): Partial<Owner> => ({ host, boot: host, pid: 17, started: "5" });

function fakeClock(each: (ms: number) => void): Clock & { ms: number } {
  const time = {
    ms: 0,
    now: () => time.ms,
    sleep: async (ms: number) => {
      time.ms += ms;
      each(time.ms);
    },
  };
  return time;
}

test("only runs on hosts that stay silent lose their leases and their cards", async (t) => {
  const at = state(t, { here: {}, silent: on("gpu2"), beating: on("gpu3"), dead: { started: "1" } });
  const told: string[] = [];
  const time = fakeClock((ms) => {
    if (ms === 40_000) utimesSync(join(at.leases, "beating"), 9, 9);
  });
  const owners = await takeOver(at, { clock: time, watching: ({ host }) => told.push(host) });
  assert.deepEqual(
    owners.map(({ host }) => host),
    ["gpu2"],
  );
  assert.deepEqual(told.sort(), ["gpu2", "gpu3"], "each is reported once, whatever it holds");
  assert.deepEqual(at.leasesLeft(), ["beating", "dead", "here"]);
  assert.deepEqual(at.cards(), ["beating", "dead", "here"]);
  assert.ok(time.ms >= 60_000 && time.ms < 62_000);
});

test("a lease without a folder is released, and a lease that ends while it is watched is not silent", async (t) => {
  const at = state(t, { lone: on("gpu2"), ending: on("gpu3") });
  rmSync(join(at.work, "lone"), { recursive: true });
  const time = fakeClock((ms) => {
    if (ms !== 1_000) return;
    rmSync(join(at.leases, "ending"));
    renameSync(join(at.work, "ending"), join(at.work, "..", "gone"));
  });
  const owners = await takeOver(at, { clock: time, silentMs: 3_000 });
  assert.deepEqual(
    owners.map(({ host }) => host),
    ["gpu2"],
  );
  assert.deepEqual(at.leasesLeft(), []);
});

test("attempts of silent supervisors are taken from their hosts, unless a living run holds the lease", async (t) => {
  const at = state(t, { beating: on("gpu3") });
  const attempt = (host: string, key: string) => {
    const owner = { ...thisProcess(), ...on(host) };
    const { path } = makeAttemptFolder(at.running, { ...exampleCard, key, by: owner });
    writeFileSync(join(path, "supervisor.json"), JSON.stringify(owner));
    return path;
  };
  attempt("gpu2", "silent");
  attempt("gpu3", "beating"); // by a run that sees its supervisor's death
  const lively = attempt("gpu4", "lively");
  const time = fakeClock((ms) => {
    if (ms % 2_000 === 0) utimesSync(join(at.leases, "beating"), ms, ms);
    if (ms === 40_000) utimesSync(join(lively, "supervisor.json"), 9, 9);
  });
  const owners = await takeOver(at, { clock: time });
  assert.deepEqual(
    owners.map(({ host }) => host),
    ["gpu2"],
  );
  const states = attemptFolders(at.running).map(({ card, state: { kind } }) => [card.key, kind]);
  assert.deepEqual(Object.fromEntries(states), { silent: "lost", beating: "elsewhere", lively: "elsewhere" });
  assert.deepEqual(at.leasesLeft(), ["beating"]);
});

test("a takeover waits for nothing if every run is on this machine", async (t) => {
  const at = state(t, { here: {}, dead: { started: "1" } });
  const time = fakeClock(() => assert.fail("it waits"));
  assert.deepEqual(await takeOver(at, { clock: time }), []);
  assert.deepEqual(at.leasesLeft(), ["dead", "here"]);
});
