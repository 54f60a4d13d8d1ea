import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { isAlive, lifeOf, ownerWords, type Place, thisProcess } from "./owner.ts";

const here: Place = { host: "gpu1", boot: "b1", table: "pid:[1]", machine: "m1" };
const owner: Owner = { ...here, pid: 17, started: "500" };
/** A process table in which only 17 lives, started at tick 500. */
const table = (pid: number) => (pid === 17 ? "500" : undefined);
const life = (changed: Partial<Owner>) => lifeOf({ ...owner, ...changed }, here, table);

test("in the same process table an owner is alive only if its process has the same start time", () => {
  assert.equal(life({}), "alive");
  assert.equal(life({ pid: 18 }), "dead");
  assert.equal(life({ started: "499" }), "dead");
});

test("an earlier boot of this machine is dead with all its tables", () => {
  assert.equal(life({ boot: "b0" }), "dead");
  assert.equal(life({ boot: "b0", table: "pid:[2]" }), "dead");
});

test("a container of this machine has another process table: number 17 there is not number 17 here", () => {
  assert.equal(life({ table: "pid:[2]" }), "elsewhere");
  assert.equal(life({ table: "pid:[2]", pid: 18 }), "elsewhere");
});

test("another host is elsewhere, whatever boot it names", () => {
  assert.equal(life({ host: "gpu2" }), "elsewhere");
  assert.equal(life({ host: "gpu2", boot: "b2" }), "elsewhere");
});

test("two machines with the same name are not mistaken for one that was restarted", () => {
  assert.equal(life({ boot: "b2", machine: "m2" }), "elsewhere");
  assert.equal(life({ boot: "b2", machine: "" }), "dead", "without a machine id only the name counts");
});

test("a field that an owner lacks counts as equal to this machine's", () => {
  const { table: _, machine: __, ...old } = owner;
  assert.equal(lifeOf(old, here, table), "alive");
  assert.equal(lifeOf({ ...old, pid: 18 }, here, table), "dead");
});

test("this process is alive", () => assert.ok(isAlive(thisProcess())));

test("a zombie has ended", {
  skip: process.platform === "linux" ? false : "needs Linux: processes are found in /proc",
}, async () => {
  const mine = thisProcess();
  assert.match(mine.table!, /^pid:\[\d+\]$/);
  // a shell that starts a child, prints its pid and becomes a program that never waits for it
  const shell = spawn("sh", ["-c", "sleep 0.1 & echo $!; exec sleep 60"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const pid = Number(await new Promise((resolve) => shell.stdout.once("data", resolve)));
    const fields = () =>
      readFileSync(`/proc/${pid}/stat`, "latin1")
        .replace(/^.*\) /, "")
        .split(" ");
    const child = { ...mine, pid, started: fields()[19]! };
    while (fields()[0] !== "Z") await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(fields()[19], child.started, "it is still in the table");
    assert.equal(lifeOf(child), "dead");
  } finally {
    shell.kill("SIGKILL");
  }
});

test("an owner is shown by process and host, and an owner elsewhere with its start by its own clock", () => {
  const since = "2026-01-31T10:00:00.000Z";
  assert.equal(ownerWords({ ...owner, since }, here), "process 17 on gpu1");
  assert.equal(
    ownerWords({ ...owner, host: "gpu2", since }, here),
    "process 17 on gpu2 since 2026-01-31T10:00:00.000Z by its clock",
  );
  assert.equal(ownerWords({ ...owner, host: "gpu2" }, here), "process 17 on gpu2");
});
