import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { WallsRequest } from "@mlrb/core/ports/sandbox";
import { hasDiskImage, removeDiskImages } from "@mlrb/kit/files/disk-image";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { until } from "../../../../tests/support/processes.ts";
import { bubblewrapMissing } from "./bubblewrap-abilities.ts";
import { bubblewrapWalls, clearBubblewrap } from "./bubblewrap-walls.ts";
import { isGone, processesWith } from "./namespace-processes.ts";
import { walledSandbox } from "./walled-sandbox.ts";

const missing = await bubblewrapMissing();
const needsBubblewrap = { timeout: 60_000, ...(missing !== undefined && { skip: missing }) };

function base(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "walled-"));
  t.after(async () => {
    await removeDiskImages(folder); // the sandbox is closed only after this
    removeFolder(folder);
  });
  return folder;
}

const options = (under: string, open: typeof bubblewrapWalls) => ({
  ...{ under, agent: "test", open, kind: "bubblewrap", reads: [], gpus: [], network: "none" as const },
  limits: { memoryBytes: 2 ** 28, processes: 64, diskBytes: 2 ** 26, cpus: 1 },
  token: `walledtest${process.pid}`,
});

const program = (argv: string[], said: string[] = []) => ({
  argv,
  cwd: "/attempt",
  env: { PATH: "/usr/bin:/bin" },
  onOutput: (_: string, bytes: Uint8Array) => void said.push(Buffer.from(bytes).toString()),
});

test("walls open with the first program and get all read-only paths added before", async (t) => {
  const asked: WallsRequest[] = [];
  const under = base(t);
  const sandbox = await walledSandbox(
    options(under, async (request) => {
      asked.push(structuredClone(request));
      return {
        kind: "fake",
        where: { engine: "fake" },
        exec: async ({ env }) => ({ kind: "exited", code: env.HOME === "/attempt/home" ? 0 : 1 }),
        ...{ freeze: async () => true, thaw: async () => true, kill: async () => {}, close: async () => {} },
      };
    }),
  );
  const data = join(under, "data");
  mkdirSync(data);
  await sandbox.put(data, "workspace/data", { readOnly: true });
  await sandbox.kill();
  assert.deepEqual([asked.length, sandbox.where()], [0, undefined]);
  assert.deepEqual(await sandbox.exec(program(["x"])), { kind: "exited", code: 0 });
  await sandbox.exec(program(["x"]));
  assert.equal(asked.length, 1);
  assert.deepEqual(asked[0]!.readOnly, ["workspace/data"]);
  assert.deepEqual(sandbox.where(), {
    engine: "fake",
    diskLimit: hasDiskImage(asked[0]!.folder) ? "kernel" : "polled",
  });
  await assert.rejects(
    sandbox.put(data, "workspace/more", { readOnly: true }),
    /agent "test": workspace\/more cannot be added read-only once programs run; add it before/,
  );
  await sandbox.close();
  assert.deepEqual(readdirSync(under), ["data"]);
});

test("if walls cannot be opened the program is lost with the reason, and the next one tries again", async (t) => {
  let tries = 0;
  const sandbox = await walledSandbox(
    options(base(t), async () => {
      tries++;
      throw new Error("no engine answers");
    }),
  );
  for (const _ of [1, 2])
    assert.deepEqual(await sandbox.exec(program(["x"])), {
      kind: "lost",
      detail: 'agent "test": no engine answers',
    });
  assert.equal(tries, 2);
  await sandbox.close();
});

for (const when of ["while its walls open", "before"] as const)
  test(`no program starts in a closed sandbox: ${when}`, async (t) => {
    const opened = Promise.withResolvers<void>();
    let started = 0;
    const sandbox = await walledSandbox(
      options(base(t), async () => {
        await opened.promise;
        return {
          ...{ kind: "fake", where: {} },
          exec: async () => ({ kind: "exited", code: ++started }),
          ...{ freeze: async () => true, thaw: async () => true },
          ...{ kill: async () => {}, close: async () => {} },
        };
      }),
    );
    const early = when === "before" ? undefined : sandbox.exec(program(["x"]));
    const closing = sandbox.close();
    opened.resolve();
    await closing;
    const result = await (early ?? sandbox.exec(program(["x"])));
    assert.deepEqual([result, started], [{ kind: "signalled", signal: "SIGKILL" }, 0]);
  });

test("a program that a kill overtakes opens no namespaces that nobody ends", needsBubblewrap, async (t) => {
  const sandbox = await walledSandbox(options(base(t), bubblewrapWalls));
  assert.deepEqual(await sandbox.exec(program(["true"])), { kind: "exited", code: 0 });
  for (let ticks = 0; ticks < 8; ticks++) {
    const running = sandbox.exec(program(["sleep", "600"]));
    for (let tick = 0; tick < ticks; tick++) await undefined;
    await sandbox.kill();
    assert.deepEqual(await running, { kind: "signalled", signal: "SIGKILL" }, `after ${ticks} ticks`);
    await until("the namespaces end", () => firstProcess() === 0);
  }
  await sandbox.close();
});

/** The first process of the sandbox that this process opened. */
function firstProcess(): number {
  const [bwrap] = childrenOf(process.pid).filter((pid) => nameOf(pid) === "bwrap");
  return bwrap === undefined ? 0 : (childrenOf(bwrap)[0] ?? 0);
}

function nameOf(pid: number): string {
  return isGone(pid) ? "" : readFileSync(`/proc/${pid}/comm`, "utf8").trim();
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

test(
  "if the first process is killed from outside its programs are lost, and the sandbox can be used again",
  needsBubblewrap,
  async (t) => {
    const sandbox = await walledSandbox(options(base(t), bubblewrapWalls));
    t.after(() => sandbox.close());
    const said: string[] = [];
    const running = sandbox.exec(program(["sh", "-c", "echo on; sleep 600"], said));
    await until("the program", () => said.includes("on\n"));
    const first = firstProcess();
    const inside = processesWith(first);
    assert.ok(inside.length > 0);
    process.kill(first, "SIGKILL");
    assert.equal((await running).kind, "lost");
    assert.ok([first, ...inside].every(isGone));
    await sandbox.kill();
    assert.deepEqual(await sandbox.exec(program(["true"])), { kind: "exited", code: 0 });
  },
);

test("after kill() the next program finds the same files and no old program", needsBubblewrap, async (t) => {
  const sandbox = await walledSandbox(options(base(t), bubblewrapWalls));
  t.after(() => sandbox.close());
  await sandbox.exec(program(["sh", "-c", "echo kept > home/file; rm -r tmp; ln -s /etc tmp; sleep 600 &"]));
  await sandbox.kill();
  const said: string[] = [];
  await sandbox.exec(program(["sh", "-c", "cat home/file; echo /proc/[0-9]*"], said));
  assert.match(said.join(""), /^kept\n\/proc\/1 \/proc\/\d+\n$/);
});

test(
  "new walls do not follow a link that a program left in place of a read-only folder",
  needsBubblewrap,
  async (t) => {
    const under = base(t);
    const sandbox = await walledSandbox(options(under, bubblewrapWalls));
    t.after(() => sandbox.close());
    const data = join(under, "data");
    mkdirSync(data);
    writeFileSync(join(data, "a"), "public");
    await sandbox.put(data, "work/data", { readOnly: true });
    await sandbox.exec(program(["sh", "-c", "mv work elsewhere; ln -s /etc work"]));
    await sandbox.kill();
    const said: string[] = [];
    await sandbox.exec(
      program(["sh", "-c", "touch work/x; cat elsewhere/data/a; ls work | head -c 1"], said),
    );
    assert.match(said.join(""), /public/);
    assert.equal(existsSync("/etc/x"), false);
  },
);

test("a fork bomb is ended completely, frozen or not", needsBubblewrap, async (t) => {
  const sandbox = await walledSandbox(options(base(t), bubblewrapWalls));
  t.after(() => sandbox.close());
  const storm = "import os\nwhile True:\n  try:\n    os.fork()\n  except OSError:\n    pass\n";
  for (const frozen of [false, true]) {
    const running = sandbox.exec(program(["/usr/bin/python3", "-I", "-S", "-c", storm]));
    const first = await until("the storm", () => processesWith(firstProcess()).length > 20 && firstProcess());
    if (frozen) await sandbox.freeze();
    await sandbox.kill();
    assert.equal((await running).kind, "signalled");
    assert.deepEqual(processesWith(first), []);
    assert.ok(isGone(first));
  }
});

test("the token of a killed supervisor is enough to clear what it left", needsBubblewrap, async (t) => {
  const sandbox = await walledSandbox(options(base(t), bubblewrapWalls));
  t.after(() => sandbox.close());
  const running = sandbox.exec(program(["sleep", "600"]));
  await until("the program", () => processesWith(firstProcess()).length > 0);
  await clearBubblewrap(`walledtest${process.pid}`);
  assert.equal((await running).kind, "lost");
  const groups = execFileSync("find", ["/sys/fs/cgroup", "-name", `mlrb-walledtest${process.pid}`], {
    encoding: "utf8",
  });
  assert.equal(groups, "");
});

test("programs that would run as root are refused", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("needs root");
  const folder = base(t);
  chmodSync(folder, 0o755);
  const { limits, token } = options(folder, bubblewrapWalls);
  const request = {
    folder,
    seenAs: "/attempt",
    readOnly: [],
    reads: [],
    network: "none" as const,
    limits,
    gpus: [],
    token,
  };
  await assert.rejects(bubblewrapWalls(request), /would be root/);
});
