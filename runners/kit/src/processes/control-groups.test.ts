import assert from "node:assert/strict";
import fs, { closeSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import timers from "node:timers/promises";
import { makeControlGroups, removeControlGroups } from "./control-groups.ts";

const limits = { memoryBytes: 1 << 20, processes: 64, diskBytes: 0, cpus: 1.5 };

const filesOf1: Record<string, string[]> = {
  memory: ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control"],
  pids: ["pids.max", "pids.events"],
  freezer: ["freezer.state"],
  cpu: ["cpu.cfs_period_us", "cpu.cfs_quota_us"],
};

const filesOf2 = [
  "memory.max memory.swap.max memory.events pids.max pids.events cpu.max cgroup.freeze cgroup.events",
].flatMap((names) => names.split(" "));

/** The files of a new group, in a kernel with every controller. */
const everything = (group: string): string[] => {
  const controller = Object.keys(filesOf1).find((name) => group.includes(`/${name}/`));
  return controller ? filesOf1[controller]! : filesOf2;
};

/**
 * A kernel with control groups below a temporary folder. `own`: the lines of /proc/self/cgroup; `files`: which
 * files come with a new group; `busy`: how often a group cannot be removed yet; `onSleep`: runs during each pause.
 */
function kernel(
  t: TestContext,
  own: string[],
  { files = everything, busy = 0, mayMake = true, onSleep = () => {} }: Partial<Kernel> = {},
) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-groups-"));
  const mounts = own.map((line) => {
    const [, names = ""] = line.split(":");
    const at = join(root, names || "unified");
    const inside = line.slice(line.lastIndexOf(":") + 1);
    mkdirSync(join(at, inside), { recursive: true });
    return `cgroup ${at} ${names ? `cgroup rw,relatime,${names}` : "cgroup2 rw,relatime"} 0 0`;
  });
  const { readFileSync: read, mkdirSync: make } = fs;
  let sleeps = 0;
  let left = busy;
  t.mock.method(fs, "readFileSync", (path: string, ...more: []) => {
    if (path === "/proc/self/cgroup") return `${own.join("\n")}\n`;
    if (path === "/proc/self/mounts") return `proc /proc proc rw 0 0\n${mounts.join("\n")}\n`;
    return read(path, ...more);
  });
  t.mock.method(fs, "mkdirSync", (path: string) => {
    if (!mayMake) throw Object.assign(new Error("EACCES"), { code: "EACCES" });
    make(path);
    for (const name of ["cgroup.procs", ...files(path)])
      writeFileSync(
        join(path, name),
        name === "freezer.state" ? "THAWED" : name === "cgroup.freeze" ? "0" : "",
      );
  });
  t.mock.method(fs, "rmdirSync", (path: string) => {
    if (!existsSync(path)) throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
    if (left-- > 0) throw Object.assign(new Error("EBUSY"), { code: "EBUSY" });
    rmSync(path, { recursive: true });
  });
  t.mock.method(timers, "setTimeout", async () => onSleep(++sleeps));
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
    rmSync(root, { recursive: true });
  });
  const at = (path: string) => join(root, path);
  return {
    at,
    text: (path: string) => read(at(path), "utf8"),
    write: (path: string, text: string) => writeFileSync(at(path), text),
    has: (path: string) => existsSync(at(path)),
    sleeps: () => sleeps,
  };
}

type Kernel = {
  files: (group: string) => string[];
  busy: number;
  mayMake: boolean;
  onSleep: (count: number) => void;
};

const own1 = ["9:memory:/", "8:pids:/", "6:freezer:/", "1:cpu:/"];
const own2 = ["0::/user/run"];
const all = ["cpu", "freezer", "memory", "pids"];

test("version 1: every limit is set in a group of its controller", (t) => {
  const { text } = kernel(t, own1);
  const groups = makeControlGroups("a1", limits);
  assert.deepEqual([...groups.has].sort(), all);
  assert.equal(text("memory/mlrb-a1/memory.limit_in_bytes"), "1048576");
  assert.equal(text("memory/mlrb-a1/memory.memsw.limit_in_bytes"), "1048576", "swap is no way around it");
  assert.equal(text("pids/mlrb-a1/pids.max"), "64");
  assert.equal(text("cpu/mlrb-a1/cpu.cfs_period_us"), "100000");
  assert.equal(text("cpu/mlrb-a1/cpu.cfs_quota_us"), "150000");
});

test("version 1: groups are made below the one that this process is in", (t) => {
  const { has } = kernel(t, ["4:memory:/machine/job"]);
  makeControlGroups("a1", limits);
  assert.ok(has("memory/machine/job/mlrb-a1"));
});

test("version 1: a limit that cannot be set is not reported as held, and its group is removed", (t) => {
  const { has } = kernel(t, own1, {
    files: (group) => (group.includes("/memory/") ? [] : everything(group)),
  });
  const groups = makeControlGroups("a1", limits);
  assert.deepEqual([...groups.has].sort(), ["cpu", "freezer", "pids"]);
  assert.ok(!has("memory/mlrb-a1"));
});

test("version 1: a kernel that counts no swap still limits memory", (t) => {
  kernel(t, own1, { files: (group) => everything(group).filter((name) => !name.includes("memsw")) });
  assert.ok(makeControlGroups("a1", limits).has.has("memory"));
});

test("a controller that is not mounted is left to the caller", (t) => {
  kernel(t, ["9:memory:/"]);
  assert.deepEqual([...makeControlGroups("a1", limits).has], ["memory"]);
});

test("a user who may make no group gets none to enter, freeze or count", async (t) => {
  kernel(t, [...own1, ...own2], { mayMake: false });
  const groups = makeControlGroups("a1", limits);
  assert.deepEqual([...groups.has], []);
  assert.deepEqual(groups.open(), []);
  assert.deepEqual(groups.met(), { memory: 0, processes: 0 });
  assert.equal(await groups.freeze(true), false);
});

test("version 2: one group below the own one holds every limit", (t) => {
  const { text, has, write } = kernel(t, own2);
  write("unified/user/run/cgroup.subtree_control", "");
  const groups = makeControlGroups("a1", limits);
  assert.deepEqual([...groups.has].sort(), all);
  assert.equal(text("unified/user/run/cgroup.subtree_control"), "+memory +pids +cpu");
  const at = "unified/user/run/mlrb-a1";
  assert.equal(text(`${at}/memory.max`), "1048576");
  assert.equal(text(`${at}/memory.swap.max`), "0");
  assert.equal(text(`${at}/pids.max`), "64");
  assert.equal(text(`${at}/cpu.max`), "150000 100000");
  assert.ok(!has("unified/user/mlrb-a1"), "and no other group is left");
});

test("version 2: if the own group delegates no controller, the one above is tried and not changed", (t) => {
  const above = (group: string) => (group.includes("/user/run/") ? ["cgroup.freeze"] : everything(group));
  const { has, text, write } = kernel(t, own2, { files: above });
  write("unified/user/cgroup.subtree_control", "");
  assert.deepEqual([...makeControlGroups("a1", limits).has].sort(), all);
  assert.ok(!has("unified/user/run/mlrb-a1"));
  assert.ok(has("unified/user/mlrb-a1"));
  assert.equal(text("unified/user/cgroup.subtree_control"), "");
});

test("version 2: a group that could only freeze is not used", (t) => {
  const { has } = kernel(t, own2, { files: () => ["cgroup.freeze", "cgroup.events"] });
  assert.deepEqual([...makeControlGroups("a1", limits).has], []);
  for (const above of ["user/run/", "user/", ""]) assert.ok(!has(`unified/${above}mlrb-a1`));
});

test("version 2: a kernel without a freezer limits the rest", (t) => {
  kernel(t, own2, { files: (group) => everything(group).filter((name) => name !== "cgroup.freeze") });
  assert.deepEqual([...makeControlGroups("a1", limits).has].sort(), ["cpu", "memory", "pids"]);
});

test("a process enters every group by its descriptor", (t) => {
  const { text } = kernel(t, own1);
  const descriptors = makeControlGroups("a1", limits).open();
  for (const descriptor of descriptors) {
    fs.writeSync(descriptor, "0");
    closeSync(descriptor);
  }
  assert.equal(descriptors.length, 4);
  for (const name of Object.keys(filesOf1)) {
    assert.equal(text(`${name}/mlrb-a1/cgroup.procs`), "0", name);
  }
});

test("how often a limit was met is read from the kernel's counts, in version 1", (t) => {
  const { write } = kernel(t, own1);
  const groups = makeControlGroups("a1", limits);
  assert.deepEqual(groups.met(), { memory: 0, processes: 0 });
  write("memory/mlrb-a1/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  write("pids/mlrb-a1/pids.events", "max 17\n");
  assert.deepEqual(groups.met(), { memory: 3, processes: 17 });
});

test("how often a limit was met is read from the kernel's counts, in version 2", (t) => {
  const { write } = kernel(t, own2);
  const groups = makeControlGroups("a1", limits);
  write("unified/user/run/mlrb-a1/memory.events", "low 1\nmax 9\noom 2\noom_kill 1\n");
  write("unified/user/run/mlrb-a1/pids.events", "max 4\n");
  assert.deepEqual(groups.met(), { memory: 1, processes: 4 });
});

test("version 1: a freeze is repeated until everything is frozen", async (t) => {
  const state = "freezer/mlrb-a1/freezer.state";
  const { write, text, sleeps } = kernel(t, own1, {
    onSleep(count) {
      // two processes were forked meanwhile, and each undoes the freeze once
      if (count < 3) write(state, "FREEZING\n");
    },
  });
  const groups = makeControlGroups("a1", limits);
  t.mock.method(fs, "writeSync", (file: number, value: string) => {
    const asked = fs.readlinkSync(`/proc/self/fd/${file}`);
    writeFileSync(asked, sleeps() < 2 ? "FREEZING\n" : `${value}\n`);
    return value.length;
  });
  syncBuiltinESMExports();
  assert.equal(await groups.freeze(true), true);
  assert.equal(text(state), "FROZEN\n");
  assert.equal(sleeps(), 3);
});

test("version 2: a freeze ends when the kernel reports it done", async (t) => {
  const at = "unified/user/run/mlrb-a1";
  const { write, text, sleeps } = kernel(t, own2, {
    onSleep: (count) => write(`${at}/cgroup.events`, `populated 1\nfrozen ${count < 3 ? 0 : 1}\n`),
  });
  const groups = makeControlGroups("a1", limits);
  write(`${at}/cgroup.events`, "populated 1\nfrozen 0\n");
  assert.equal(await groups.freeze(true), true);
  assert.equal(text(`${at}/cgroup.freeze`), "1");
  assert.equal(sleeps(), 3);
});

test("a thaw waits for the kernel as a freeze does", async (t) => {
  const at = "unified/user/run/mlrb-a1";
  const { write, text } = kernel(t, [...own2], {
    onSleep: () => write(`${at}/cgroup.events`, "populated 1\nfrozen 0\n"),
  });
  const groups = makeControlGroups("a1", limits);
  write(`${at}/cgroup.freeze`, "1");
  write(`${at}/cgroup.events`, "populated 1\nfrozen 1\n");
  assert.equal(await groups.freeze(false), true);
  assert.equal(text(`${at}/cgroup.freeze`), "0");
});

test("a freeze that the kernel never completes is abandoned", async (t) => {
  const { write } = kernel(t, own2);
  const groups = makeControlGroups("a1", limits);
  write("unified/user/run/mlrb-a1/cgroup.events", "populated 1\nfrozen 0\n");
  assert.equal(await groups.freeze(true), false);
});

test("a freeze without permission fails at once", async (t) => {
  const { at, sleeps } = kernel(t, own2);
  const groups = makeControlGroups("a1", limits);
  rmSync(at("unified/user/run/mlrb-a1"), { recursive: true });
  assert.equal(await groups.freeze(true), false);
  assert.equal(sleeps(), 0);
});

test("each group is removed once the kernel has forgotten its last process", async (t) => {
  const { has } = kernel(t, own1, { busy: 3 });
  const groups = makeControlGroups("a1", limits);
  await groups.remove();
  for (const name of Object.keys(filesOf1)) assert.ok(!has(`${name}/mlrb-a1`), name);
});

test("processes that a dead supervisor left in its groups are thawed and killed, and the groups removed", async (t) => {
  const { write, text, has } = kernel(t, [...own1, ...own2], {
    onSleep() {
      for (const name of left) write(`${name}/cgroup.procs`, "");
    },
  });
  makeControlGroups("a1", limits);
  makeControlGroups("a2", limits);
  const left = ["pids/mlrb-a1", "unified/user/run/mlrb-a1"];
  write("pids/mlrb-a1/cgroup.procs", "4194401\n4194402\n");
  write("unified/user/run/mlrb-a1/cgroup.procs", "4194403\n1\n0\n");
  write("freezer/mlrb-a1/freezer.state", "FROZEN");
  write("pids/mlrb-a2/cgroup.procs", "4194404\n");
  const thawed: string[] = [];
  const killed: number[] = [];
  t.mock.method(process, "kill", (pid: number, signal: string) => {
    assert.equal(signal, "SIGKILL");
    thawed.push(text("freezer/mlrb-a1/freezer.state"));
    killed.push(pid);
    throw Object.assign(new Error("ESRCH"), { code: "ESRCH" }); // it may just have ended
  });
  await removeControlGroups("a1");
  assert.deepEqual(killed.sort(), [4194401, 4194402, 4194403], "never 0 or 1, nor those of another name");
  assert.ok(!has("pids/mlrb-a1") && !has("unified/user/run/mlrb-a1") && has("pids/mlrb-a2"));
});

test("removing missing groups does nothing", async (t) => {
  const { sleeps } = kernel(t, own1);
  await removeControlGroups("a1");
  assert.equal(sleeps(), 0);
});
