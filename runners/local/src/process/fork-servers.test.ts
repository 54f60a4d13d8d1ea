// Compares programs forked from a warm process with the same programs started fresh, on this machine's Python and
// a small preload. tests/fork-server.thorough.test.ts uses the real libraries.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest, Executor } from "@mlrb/core/ports/executor";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { localExecutor } from "./local-executor.ts";
import { abilities } from "./namespaces.ts";

delete process.env.MLRB_TEST_FORK_SERVER; // the server itself is under test
const linux = { skip: process.platform === "linux" ? false : "servers are forked on Linux only" };
const able = await abilities();
const namespaces = { skip: able.network && able.readOnly ? false : "this user may not have namespaces here" };

/** The interpreter itself, not a shim that starts it with other variables. */
const python = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], {
  encoding: "utf8",
}).trim();

type Ran = { result: ExecutionResult; log: string; work: string };
type More = Partial<ExecutionRequest> & { variables?: Record<string, string> };

function scene(t: TestContext, preload = "import json, random\n") {
  const root = mkdtempSync(join(tmpdir(), "mlrb-fork-"));
  const executor: Executor = localExecutor(root);
  writeFileSync(join(root, "ml.preload.py"), preload);
  let count = 0;
  t.after(async () => {
    executor.close!();
    rmSync(root, { recursive: true, force: true });
  });
  const start = (script: string, { variables, ...more }: More = {}) => {
    const name = `s${++count}`;
    const work = join(root, "work", name);
    mkdirSync(join(work, "tmp"), { recursive: true });
    writeFileSync(join(root, `${name}.py`), script);
    const log = join(work, "log");
    const running = executor.start({
      id: name,
      key: name,
      reads: [],
      writes: [],
      cpus: 1,
      gpus: [],
      token: `${process.pid}-${root}:${name}:`,
      run: { kind: "python", file: `${name}.py` },
      root,
      work,
      env: {
        PATH: process.env.PATH ?? "",
        HOME: join(work, "tmp"),
        TMPDIR: join(work, "tmp"),
        LANG: "C.UTF-8",
        PYTHONHASHSEED: "0",
        PYTHONUNBUFFERED: "1",
        PYTHONDONTWRITEBYTECODE: "1",
        MLRB_STAGE: join(work, "stage.json"),
        ...variables,
      },
      python,
      inputs: {},
      outputs: {},
      log,
      limits: {},
      network: "none",
      preload: join(root, "ml.preload.py"),
      ...more,
    });
    const ended = running.ended.then(
      (result): Ran => ({ result, log: existsSync(log) ? readFileSync(log, "utf8") : "", work }),
    );
    return { running, ended, work, name };
  };
  return { root, executor, start, run: (script: string, more?: More) => start(script, more).ended };
}

/** Whether a script runs in a fork: its parent is then a server. */
const forkedIs = `import os
def forked():
    return b"fork_server.py" in open(f"/proc/{os.getppid()}/cmdline", "rb").read()
`;

async function until(what: string, look: () => boolean): Promise<void> {
  for (let turn = 0; !look(); turn++) {
    assert.ok(turn < 1500, `waited in vain: ${what}`);
    await sleep(20);
  }
}

const gone = (pid: number) =>
  !existsSync(`/proc/${pid}`) || /\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));

test("a forked program sees what a fresh one sees", linux, async (t) => {
  const { run, root } = scene(t);
  const script = `
import json, os, signal, subprocess, sys, tempfile
print(json.dumps({
  "argv": sys.argv, "path": sys.path, "cwd": os.getcwd(), "name": __name__, "file": __file__,
  "main": sys.modules["__main__"].__dict__ is globals(), "names": sorted(globals()),
  "env": {name: value for name, value in os.environ.items() if name != "PWD"},  # of the shell that confines
  "real": subprocess.check_output("env | grep -Ev '^(_|PWD)=' | sort", shell=True, text=True), "stdin": sys.stdin.read(),
  "tmp": tempfile.gettempdir(), "flags": str(sys.flags), "leader": os.getsid(0) == os.getpid() == os.getpgid(0),
  "signals": {s.name: str(signal.getsignal(s)).split(" at ")[0] for s in signal.Signals},
  "mask": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())), "hash": hash("word"), "umask": os.umask(0),
  "streams": [(f.name, f.encoding, f.errors, f.write_through) for f in (sys.stdin, sys.stdout, sys.stderr)],
  "files": sorted(os.readlink(f"/proc/self/fd/{n}") for n in (0, 1, 2)),
  "pipes": [p for n in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{n}") and (p := os.readlink(f"/proc/self/fd/{n}")).startswith("pipe:")],
  "token": [line for line in open("/proc/self/environ").read().split("\\0") if line.startswith("MLRB_TOKEN")],
  "own": [name for name in sys.modules if name.startswith(("fork_", "spawner"))],
}, sort_keys=True))
`;
  const plain = ({ log, work }: Ran) =>
    log
      .replaceAll(work, "WORK")
      .replaceAll(/\bs\d+\b/g, "S")
      .replaceAll(/pipe:\[\d+\]/g, "pipe");
  const forked = await run(script);
  const fresh = await run(script, { preload: undefined as unknown as string });
  assert.deepEqual([forked.result.kind, fresh.result.kind], ["succeeded", "succeeded"], forked.log);
  assert.deepEqual(JSON.parse(plain(forked)), JSON.parse(plain(fresh)));
  assert.equal((await run(`${forkedIs}\nassert forked()`)).result.kind, "succeeded");
  assert.deepEqual(
    readdirSync(root).filter((name) => name === "__pycache__"),
    [],
  );
});

const ends: Record<string, string> = {
  "at its last line": "print('done')",
  "by sys.exit()": "import sys; sys.exit()",
  "by sys.exit(3)": "import sys; sys.exit(3)",
  "by sys.exit(256 + 7)": "import sys; sys.exit(256 + 7)",
  "by sys.exit(-1)": "import sys; sys.exit(-1)",
  "by sys.exit('why')": "import sys; sys.exit('why')",
  "by os._exit": "import os; print('said'); os._exit(9)",
  "by an exception": "def deep():\n    raise ValueError('no')\ndeep()",
  "by a cause": "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise KeyError('x') from error",
  "by a syntax error": "print('never')\nx = (1,\n",
  "by an unknown import": "import there_is_no_such_module",
  "by SIGTERM": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
  "by SIGSEGV": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
  "by KeyboardInterrupt": "raise KeyboardInterrupt",
  "after its exit handlers": "import atexit; atexit.register(print, 'bye'); raise SystemExit(4)",
  "after its threads":
    "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start()",
  "with a file left open":
    "import os\nf = open(os.environ['TMPDIR'] + '/out', 'w')\nf.write('kept')\nclass Last:\n    def __del__(self):\n        print('freed')\nlast = Last()",
  "with a hook of its own": "import sys\nsys.excepthook = lambda *_: print('hooked')\nraise ValueError",
};
test("a program ends with the same status and output, forked or fresh", linux, async (t) => {
  const { run } = scene(t);
  for (const [how, script] of Object.entries(ends)) {
    const [forked, fresh] = await Promise.all([
      run(script),
      run(script, { preload: undefined as unknown as string }),
    ]);
    assert.deepEqual(forked.result, fresh.result, how);
    const plain = ({ log }: Ran) => log.replaceAll(/\bs\d+\.py/g, "S.py");
    assert.equal(plain(forked), plain(fresh), how);
    for (const { work } of [forked, fresh]) {
      const out = join(work, "tmp/out");
      if (how.includes("left open")) assert.equal(readFileSync(out, "utf8"), "kept", how);
    }
  }
});

test("jobs share no variables, modules, random numbers, folders or logs", linux, async (t) => {
  const { run } = scene(t, "import random, json\nrandom.seed(1)\n");
  const change = `${forkedIs}
import json, os, random, sys, tempfile
assert forked() and "EXTRA" not in os.environ and not hasattr(json, "extra") and "/extra" not in sys.path
os.environ["EXTRA"] = "1"; json.extra = 1; sys.path.append("/extra"); os.chdir("/"); os.umask(0o77)
assert tempfile.gettempdir() == os.environ["TMPDIR"] == os.environ["HOME"]
open(os.environ["TMPDIR"] + "/mine", "x").close()
for n in range(200): print(os.getpid(), random.random())
`;
  const all = await Promise.all(Array.from({ length: 6 }, () => run(change)));
  for (const { result, log } of all) assert.equal(result.kind, "succeeded", log);
  const pids = all.map(
    ({ log }) =>
      new Set(
        log
          .trim()
          .split("\n")
          .map((line) => line.split(" ")[0]),
      ),
  );
  assert.deepEqual(
    pids.map(({ size }) => size),
    Array(6).fill(1),
    "a log has lines of another job",
  );
  assert.equal(new Set(all.map(({ log }) => log.split(" ")[1])).size, 6, "two jobs drew the same numbers");
});

test("paths that libraries stored at import point to the job's own folders", linux, async (t) => {
  const preload = `import os, pathlib, types, sys
m = types.ModuleType("noted"); sys.modules["noted"] = m
m.HOME = os.path.expanduser("~/cache"); m.PATH = pathlib.Path(m.HOME, "deep"); m.TABLE = {"a": [m.HOME]}
exec("def ask(path=HOME): return path", m.__dict__)
`;
  const { run } = scene(t, preload);
  const { result, log } = await run(`
import noted, os
home = os.environ["HOME"] + "/cache"
assert (noted.HOME, str(noted.PATH), noted.TABLE, noted.ask()) == (home, home + "/deep", {"a": [home]}, home), vars(noted)`);
  assert.equal(result.kind, "succeeded", log);
});

test("a stopped job ends with all processes that it started, detached ones included", linux, async (t) => {
  const { start } = scene(t);
  // the second process is not a program: it was forked twice and has its own session
  const stray = `
import os, subprocess, sys, time
subprocess.Popen(["setsid", "sh", "-c", 'echo $$ > "$TMPDIR/one.new"; mv "$TMPDIR/one.new" "$TMPDIR/one"; exec sleep 300'])
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        open(os.environ["TMPDIR"] + "/two.new", "w").write(str(os.getpid()))
        os.rename(os.environ["TMPDIR"] + "/two.new", os.environ["TMPDIR"] + "/two")
        time.sleep(300)
    os._exit(0)
`;
  const hang = `${stray}\ntime.sleep(300)`;
  const leave = `${stray}\nwhile not all(os.path.exists(os.environ["TMPDIR"] + n) for n in ("/one", "/two")): time.sleep(0.02)`;
  const eat = `${stray}\nheld = [b"x" * (1 << 20) for _ in range(300)]\ntime.sleep(300)`;
  const pidsOf = async (work: string) => {
    const files = ["one", "two"].map((name) => join(work, "tmp", name));
    await until("its children", () => files.every((file) => existsSync(file)));
    return files.map((file) => Number(readFileSync(file, "utf8")));
  };
  const kinds: [string, More, (job: ReturnType<typeof start>) => void, ExecutionResult["kind"], string?][] = [
    [hang, { limits: { timeMs: 1500 } }, () => {}, "failed", "time-limit"],
    [eat, { limits: { memoryBytes: 200 << 20 } }, () => {}, "failed", "out-of-memory"],
    [hang, {}, (job) => job.running.kill(), "cancelled"],
    [leave, {}, () => {}, "succeeded"],
  ];
  for (const [script, more, act, kind, cause] of kinds) {
    const job = start(script, more);
    const pids = await pidsOf(job.work);
    act(job);
    const { result, log } = await job.ended;
    assert.equal(result.kind, kind, log);
    if (result.kind === "failed") assert.equal(result.cause, cause, log);
    await until("their end", () => pids.every(gone));
  }
});

test(
  "a killed server fails its jobs as machine failures and ends them, and later jobs run fresh",
  linux,
  async (t) => {
    const { start, run } = scene(t);
    const job = start(`import os, time\nprint(os.getppid(), os.getpid(), flush=True)\ntime.sleep(300)`);
    await until(
      "the job",
      () => existsSync(join(job.work, "log")) && readFileSync(join(job.work, "log"), "utf8").includes(" "),
    );
    const [server, pid] = readFileSync(join(job.work, "log"), "utf8").split(" ").map(Number);
    process.kill(server!, "SIGKILL");
    const { result } = await job.ended;
    assert.deepEqual(result, {
      kind: "failed",
      cause: "machine",
      detail: "the process that starts programs ended",
    });
    await until("the job's end", () => gone(pid!));
    const later = await run(`${forkedIs}\nassert not forked()`);
    assert.equal(later.result.kind, "succeeded");
    assert.equal(
      later.log,
      "mlrb: not forked from a warm process: the server ended\n".replace(
        "the server cannot be used: it ended",
        "the server ended",
      ),
    );
  },
);

test("when the runner is killed, its server and all processes of forked jobs end", linux, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-fork-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "ml.preload.py"), "import json\n");
  const stray = `import os, subprocess, time
child = subprocess.Popen(["setsid", "env", "-i", "sleep", "300"], cwd="/")
with open("pids.new", "w") as file: file.write(f"{os.getppid()} {os.getpid()} {child.pid}")
os.rename("pids.new", "pids")
time.sleep(300)`;
  writeFileSync(join(folder, "hang.py"), stray);
  const env = { PATH: process.env.PATH ?? "", HOME: folder, TMPDIR: folder };
  const request = {
    id: "hang",
    token: `${folder}:`,
    run: { kind: "python", file: "hang.py" },
    root: folder,
    work: folder,
    env,
    python,
    inputs: {},
    outputs: {},
    gpus: [],
    log: join(folder, "log"),
    limits: {},
    network: "none",
    preload: join(folder, "ml.preload.py"),
  };
  const source = `import { localExecutor } from ${JSON.stringify(join(import.meta.dirname, "local-executor.ts"))};
localExecutor(${JSON.stringify(folder)}).start(${JSON.stringify(request)});`;
  const runner = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: "ignore" });
  await until("the job", () => existsSync(join(folder, "pids")));
  const pids = readFileSync(join(folder, "pids"), "utf8").split(" ").map(Number);
  assert.match(readFileSync(`/proc/${pids[0]}/cmdline`, "utf8"), /fork_server/);
  runner.kill("SIGKILL");
  await until("their end", () => pids.every(gone));
});

test("a program that cannot be forked safely runs fresh, and its log says why", linux, async (t) => {
  const cases: [string, More, RegExp][] = [
    ["raise ValueError('broken')", {}, /the server cannot be used: ValueError: broken\n/],
    ["import sys; sys.exit(3)", {}, /the server cannot be used: SystemExit: 3\n/],
    [
      "import threading, time\nthreading.Thread(target=time.sleep, args=(300,), daemon=True).start()",
      {},
      /threads: python/,
    ],
    [
      "import os, sys; sys.path.insert(0, os.getcwd()); import changeable",
      {},
      /changeable does not belong to the environment/,
    ],
    ["pass", { network: "full" }, /it may use the network\n/],
  ];
  for (const [preload, more, why] of cases) {
    const { run, root } = scene(t, preload);
    writeFileSync(join(root, "changeable.py"), "");
    const { result, log } = await run(`${forkedIs}\nassert not forked()\nprint("ran")`, more);
    assert.equal(result.kind, "succeeded", log);
    assert.match(log, why);
    assert.match(log, /^mlrb: not forked from a warm process: .*\nran\n$/);
  }
});

test("jobs with other variables use another server, and a third set runs fresh", linux, async (t) => {
  const { run } = scene(t, "import os\nnoted = os.environ.get('SEEN')\nimport json\njson.noted = noted\n");
  const seen = (variables: Record<string, string>) =>
    run(`import json, os\nassert getattr(json, "noted", os.environ["SEEN"]) == os.environ["SEEN"]`, {
      variables,
    });
  for (const SEEN of ["one", "two", "one", "three"]) {
    const { result, log } = await seen({ SEEN });
    assert.equal(result.kind, "succeeded", log);
    assert.equal(/its variables differ/.test(log), SEEN === "three", log);
  }
});

test("stages with and without a compile cache of Node share a server", linux, async (t) => {
  const { run } = scene(t);
  const parents: string[] = [];
  for (const variables of [{ NODE_COMPILE_CACHE: "/cache" }, {}] as Record<string, string>[]) {
    const { result, log } = await run(
      "import os\nprint(os.environ.get('NODE_COMPILE_CACHE'), os.getppid())",
      { variables },
    );
    assert.equal(result.kind, "succeeded", log);
    const [cache, parent] = log.trim().split(" ");
    assert.equal(cache, variables.NODE_COMPILE_CACHE ?? "None");
    parents.push(parent!);
  }
  assert.equal(parents[0], parents[1]);
});

test("a forked job has no network and cannot write in a read-only folder", namespaces, async (t) => {
  const { run, root } = scene(t);
  const folder = join(root, "linked");
  mkdirSync(folder);
  writeFileSync(join(folder, "file"), "kept");
  const script = `${forkedIs}
import errno, socket
assert forked()
names = [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]
assert all(not name.startswith(("eth", "en", "wl")) for name in names), names
server = socket.create_server(("127.0.0.1", 0)); socket.create_connection(server.getsockname()).close()
for path in (${JSON.stringify(`${folder}/file`)}, ${JSON.stringify(`${folder}/other`)}):
    try: open(path, "w")
    except OSError as error: assert error.errno == errno.EROFS, error
    else: raise AssertionError(path)
print(open(${JSON.stringify(`${folder}/file`)}).read())
`;
  const { result, log } = await run(script, { readOnly: folder });
  assert.equal(result.kind, "succeeded", log);
  assert.equal(log, "kept\n");
  writeFileSync(join(folder, "file"), "others may");
});

test(
  "a job that is ended while its server starts does not wait for the server, and never begins",
  linux,
  async (t) => {
    const { start } = scene(t, "import time; time.sleep(300)");
    const job = start("print('begun')");
    await sleep(50);
    job.running.askToEnd();
    const { result, log } = await job.ended;
    assert.deepEqual([result.kind, log], ["cancelled", ""]);
  },
);

test(
  "freed blocks as large as tensors are used again, and the kernel does not fill them with zeros",
  linux,
  async (t) => {
    const { run } = scene(t);
    const count = `
import resource
def filled():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block = bytearray(b"x") * (100 << 20)
    del block
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
filled()
again = filled()
`;
    const fresh = `${count}
import ctypes
print(again, hasattr(ctypes.CDLL(None), "mallopt") and ctypes.CDLL(None).mallopt(-3, 2**28))`;
    const [faults, accepts] = execFileSync(python, ["-c", fresh], { encoding: "utf8" }).trim().split(" ");
    if (accepts !== "1") return t.skip("this C library does not keep blocks of 100 MiB");
    const { log } = await run(`${forkedIs}${count}\nprint("forked", forked(), again)\n`);
    assert.match(log, /forked True \d+/);
    const kept = Number(/forked True (\d+)/.exec(log)![1]);
    assert.ok(
      kept < Number(faults) / 2,
      `${kept} pages were filled, and ${faults} in a program that is not forked`,
    );
  },
);

test("a server's memory becomes huge pages once it has forked a few jobs", linux, async (t) => {
  const { run } = scene(t, "held = bytearray(b'x') * (64 << 20)\n");
  const hugeOfServer = `${forkedIs}
assert forked()
lines = open(f"/proc/{os.getppid()}/smaps_rollup").read().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("AnonHugePages:")))
`;
  const collapse = `
import ctypes, mmap
block = mmap.mmap(-1, 8 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
place = ctypes.addressof(ctypes.c_char.from_buffer(block))
advise = ctypes.CDLL(None).madvise
advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
block.write(b"x" * len(block))
print(advise(-(-place // (2 << 20)) * (2 << 20), 2 << 20, 25))`;
  if (execFileSync(python, ["-c", collapse], { encoding: "utf8" }).trim() !== "0")
    return t.skip("this kernel makes no huge pages when asked");
  const found: number[] = [];
  for (let job = 0; job < 14; job++) found.push(Number((await run(hugeOfServer)).log));
  assert.ok(found[0]! < 1024 * 32, String(found));
  assert.ok(found.at(-1)! >= 1024 * 60, String(found));
});
