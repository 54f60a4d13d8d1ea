// Hostile programs in the walls of stages that open what untrusted code made: each of the four ways to start a
// stage, under root and under an ordinary user (walls.user.test.ts).
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { removeGroupsBelow } from "@mlrb/kit/processes/control-groups";
import { greedy, hostile, sight, ways } from "../testing/hostile-stage.ts";
import { groupName, wallsGroups, wallsMissing } from "./walls.ts";

const who = process.getuid?.() === 0 ? "root" : "an ordinary user";
const missing = await wallsMissing();
const options = { timeout: 60_000, ...(missing !== undefined && { skip: missing }) };

for (const way of ways) {
  test(
    `${way}, ${who}: a hostile stage sees and changes nothing but what it is given`,
    options,
    async (t) => {
      const server = createServer((socket) => socket.end());
      t.after(() => server.close());
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as { port: number };
      const { result, work, log, root } = await hostile(t, way, sight, { port });
      assert.deepEqual(result, { kind: "succeeded" }, log);
      const told = JSON.parse(readFileSync(join(work, "out/result.json"), "utf8"));
      for (const [path, what] of Object.entries(told.seen))
        assert.ok(what === "refused" || what === 0 || (what as unknown[]).length === 0, `${path}: ${what}`);
      for (const [act, end] of Object.entries(told.acts)) assert.equal(end, "refused", act);
      assert.equal(told.pids.length, way === "fresh Node" ? 3 : 2, String(told.pids));
      if (process.getuid?.() === 0) assert.ok(told.uid >= 60_600);
      assert.equal(told.submission, "weights"); // although only the runner's user could read it
      assert.deepEqual(told.mlrb, ["work"]);
      assert.ok(!told.root.includes(".env"));
      assert.ok(
        !told.top.some((name: string) => ["home", "var", "run", "old", "new", "boot"].includes(name)),
        String(told.top),
      );
      const caps = Object.fromEntries(told.caps.map((line: string) => line.trim().split(/:\s+/)));
      assert.deepEqual(caps, {
        CapEff: "0".repeat(16),
        CapBnd: "0".repeat(16),
        NoNewPrivs: "1",
        Seccomp: "2",
      });
      assert.deepEqual(told.lo, ["lo"]);
      assert.equal(readFileSync(join(work, "in/submission"), "utf8"), "weights");
      assert.equal(statSync(join(work, "out/result.json")).uid, process.getuid!());
      assert.ok(existsSync(root));
    },
  );
}

const held = wallsGroups(`probe-${process.pid}`, { memoryBytes: 2 ** 29, processes: 64, fileBytes: 1 });
const grouped = held.has.has("memory");
await held.remove();

for (const way of ways) {
  for (const processes of grouped ? [1, 8] : [1])
    test(
      `${way}, ${who}: ${processes} processes that take more memory than allowed are ended`,
      options,
      async (t) => {
        const script = greedy.replace("PROCESSES", String(processes));
        const { result, work, log } = await hostile(t, way, script);
        assert.ok(!existsSync(join(work, "out/survived")) || processes > 1, log);
        assert.equal(result.kind, "failed", log);
        if (!grouped) return;
        const detail = `held more than ${2 ** 29} bytes of memory`;
        assert.deepEqual(result, { kind: "failed", cause: "out-of-memory", detail });
      },
    );

  test(`${way}, ${who}: a file larger than allowed cannot be written`, options, async (t) => {
    const script = `
import os
with open(os.environ["WORK"] + "/out/large", "wb") as file:
    for _ in range(40):
        file.write(bytes(1 << 20))
`;
    const { result, work } = await hostile(t, way, script);
    assert.equal(result.kind, "failed");
    assert.ok(statSync(join(work, "out/large")).size <= 2 ** 24);
  });

  test(`${way}, ${who}: a fork bomb and processes that detach end with the stage`, options, async (t) => {
    const script = `
import os, time
for _ in range(1000):
    try:
        if os.fork() == 0:
            os.setsid()
            os.environ.clear()
            os.chdir("/")
            while True:
                open("WORKFOLDER/tmp/alive", "w").write(str(time.time()))
                time.sleep(0.02)
    except OSError:
        break
else:
    raise SystemExit("a thousand processes were started")
time.sleep(0.3)
`;
    const { result, work, log } = await hostile(t, way, script);
    assert.deepEqual(result, { kind: "succeeded" }, log);
    const before = statSync(join(work, "tmp/alive")).mtimeMs;
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(statSync(join(work, "tmp/alive")).mtimeMs, before);
  });

  test(`${way}, ${who}: a stage inside walls ends as its program ended`, options, async (t) => {
    const exits = await hostile(t, way, "raise SystemExit(7)");
    assert.deepEqual(exits.result, { kind: "failed", cause: "exit-code", detail: "exit status 7" });
    if (way === "fresh Node") return;
    const killed = await hostile(t, way, "import os; os.kill(os.getpid(), 15)");
    assert.deepEqual(killed.result, { kind: "failed", cause: "exit-code", detail: "ended by SIGTERM" });
  });
}

for (const way of ways)
  test(
    `${way}, ${who}: a toolchain in a home folder is seen, and nothing else of that home folder`,
    options,
    async (t) => {
      const home = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-home-")));
      t.after(() => rmSync(home, { recursive: true }));
      for (const name of ["tools/v4/bin", "tools/v4/lib", "bin"])
        mkdirSync(join(home, name), { recursive: true });
      writeFileSync(join(home, "tools/v4/lib/x"), "proved");
      writeFileSync(join(home, "tools/v4/bin/lean"), '#!/bin/sh\ncat "$(dirname "$0")/../lib/x"\n', {
        mode: 0o755,
      });
      symlinkSync("../tools/v4/bin/lean", join(home, "bin/lean"));
      for (const secret of ["key", "bin/key", "tools/key"]) writeFileSync(join(home, secret), "sk-secret");
      // the link and the file before the folder that holds the file
      const reads = [join(home, "bin/lean"), join(home, "tools/v4/bin/lean"), join(home, "tools/v4")];
      const script = `
import os, subprocess
said = subprocess.run([${JSON.stringify(join(home, "tools/v4/bin/lean"))}], capture_output=True, text=True).stdout
files = [os.path.join(at, name) for at, _, names in os.walk(${JSON.stringify(home)}) for name in names]
open("WORKFOLDER/out/result", "w").write("\\n".join([said, *sorted(files)]))
`;
      const { result, work, log } = await hostile(t, way, script, { reads });
      assert.deepEqual(result, { kind: "succeeded" }, log);
      const [said, ...files] = readFileSync(join(work, "out/result"), "utf8").split("\n");
      assert.equal(said, "proved");
      assert.deepEqual(
        files,
        ["bin/lean", "tools/v4/bin/lean", "tools/v4/lib/x"].map((name) => join(home, name)),
      );
    },
  );

test(`${who}: no control group of a stage is left`, options, async (t) => {
  const { token } = await hostile(t, "fresh Python", "pass");
  const again = wallsGroups(token, { memoryBytes: 2 ** 29, processes: 64, fileBytes: 1 });
  t.after(() => again.remove());
  assert.equal(again.has.has("memory"), grouped);
});

test("the groups of a killed run's stages are removed, and those of another run stay", options, async (t) => {
  const limits = { memoryBytes: 2 ** 29, processes: 64, fileBytes: 1 };
  const [own, other] = ["mlrb:run-1:7:", "mlrb:run-12:7:"].map((token) => wallsGroups(token, limits));
  t.after(async () => {
    await own!.remove();
    await other!.remove();
  });
  await removeGroupsBelow(groupName("mlrb:run-1:"));
  const exists = (path: string) => existsSync(path);
  assert.ok(!own!.entries.some(exists));
  assert.ok(other!.entries.every(exists));
});

/** As on a machine without python3 on the PATH: no walls can be built. */
function withoutWalls(t: TestContext): void {
  const { PATH } = process.env;
  process.env.PATH = "/nonexistent";
  t.after(() => {
    process.env.PATH = PATH;
  });
}

for (const way of ["forked", "fresh Python"] as const) {
  test(`${way}: where no walls can be built, a stage that requires them is refused with a way out`, async (t) => {
    withoutWalls(t);
    const { result, log, work } = await hostile(t, way, `open("WORKFOLDER/out/ran", "w")`);
    assert.equal(result.kind, "failed");
    assert.match(
      (result as { detail: string }).detail,
      /no walls can be built here: .*they need python3 and root/,
    );
    assert.match(log, /executor: docker/);
    assert.ok(!existsSync(join(work, "out/ran")));
  });

  test(`${way}: where no walls can be built, another stage runs under weak limits, and its result says so`, async (t) => {
    withoutWalls(t);
    const script = `
import resource
with open("WORKFOLDER/out/limits", "w") as file:
    print(resource.getrlimit(resource.RLIMIT_CORE), resource.getrlimit(resource.RLIMIT_FSIZE), file=file)
`;
    const { result, log, work } = await hostile(t, way, script, { required: false });
    assert.deepEqual(result, { kind: "succeeded", where: { walls: "none: weak limits" } }, log);
    assert.equal(readFileSync(join(work, "out/limits"), "utf8"), "(0, 0) (16777216, 16777216)\n");
    const greedily = await hostile(t, way, greedy.replace("PROCESSES", "1"), { required: false });
    assert.equal(greedily.result.kind, "failed", greedily.log);
  });

  const options = held.has.has("pids") ? {} : { skip: "this user may make no control group for processes" };
  test(`${way}: under weak limits a control group holds the number of processes`, options, async (t) => {
    withoutWalls(t);
    const script = `
import os, resource, time
started = 0
try:
    while started < 200:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        started += 1
except BlockingIOError:
    pass
with open("WORKFOLDER/out/started", "w") as file:
    print(started, resource.getrlimit(resource.RLIMIT_NPROC)[0] == 64, file=file)
`;
    const { result, log, work } = await hostile(t, way, script, { required: false });
    assert.equal(result.kind, "succeeded", log);
    const [started = "", byUser] = readFileSync(join(work, "out/started"), "utf8").trim().split(" ");
    assert.ok(Number(started) >= 32 && Number(started) < 64, started);
    assert.equal(byUser, "False", "that limit would count all processes of the user");
  });
}
