// The tests that every executor passes: what the engine relies on, whatever runs a stage.
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest, Executor, Running, StageWalls } from "@mlrb/core/ports/executor";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { sandboxUser } from "@mlrb/kit/processes/sandbox-user";
import { isRunning, until } from "./processes.ts";

export type MakeExecutor = (at: {
  /** The repository. */
  root: string;
  /** The folder of all runs' folders. */
  work: string;
  run: string;
  /** Runs that are not dead. */
  isLive: (run: string) => boolean;
  /** Takes what a dead run left; false if another living run has it. */
  take: (run: string, name: string) => boolean;
}) => Executor;

export type ContractOptions = {
  /** Why no such executor can be made here; asked when a test starts. */
  skip?: () => string | false;
  /** Whether a later run can adopt what a dead run has started. */
  adopts: boolean;
};

/** Defines the tests. `make` makes one executor for each run of a test. */
export function executorContract(name: string, make: MakeExecutor, options: ContractOptions): void {
  const it = (title: string, body: (lab: ContractLab) => Promise<void>) =>
    test(`${name}: ${title}`, { timeout: 120_000 }, async (t) => {
      const why = options.skip?.() ?? false;
      if (why !== false) return t.skip(why);
      await body(new ContractLab(t, make));
    });

  it("a stage sees its variables, writes in its folder, and its output is in its log", async (lab) => {
    const at = lab.executor("first");
    const request = lab.request('echo "$GREETING"; echo problem >&2; pwd; echo kept > "$HOME/../out/a"');
    const result = await at.start(request).ended;
    assert.equal(result.kind, "succeeded", lab.log(request));
    assert.match(lab.log(request), /hello, world\nproblem\n/);
    assert.ok(lab.log(request).includes(`\n${request.root}\n`), lab.log(request));
    assert.equal(readFileSync(join(request.work, "out/a"), "utf8"), "kept\n");
  });

  it("a status other than 0 is the stage's own failure", async (lab) => {
    const result = await lab.executor("first").start(lab.request("exit 3")).ended;
    assert.deepEqual(result, { kind: "failed", cause: "exit-code", detail: "exit status 3" });
  });

  it("a stage is ended at its time limit, with the children that left its process group", async (lab) => {
    const sleep = lab.sleep();
    const request = lab.request(`setsid ${sleep} & ${sleep}`, { limits: { timeMs: 1_500 } });
    const result = await lab.executor("first").start(request).ended;
    assert.deepEqual(result, { kind: "failed", cause: "time-limit", detail: "did not end within 1.5 s" });
    assert.deepEqual(running(sleep), []);
  });

  it("a stage that holds more memory than its limit is ended for that cause", async (lab) => {
    const command = "python3 -c 'held = bytearray(400 << 20); import time; time.sleep(60)'";
    const request = lab.request(command, { limits: { memoryBytes: 100 << 20 } });
    const result = await lab.executor("first").start(request).ended;
    const detail = `held more than ${100 << 20} bytes of memory`;
    assert.deepEqual(result, { kind: "failed", cause: "out-of-memory", detail });
  });

  it("a stage that is asked to end may finish what it does", async (lab) => {
    const sleep = lab.sleep();
    const request = lab.request(
      `trap 'echo ending; exit 0' TERM; setsid ${sleep} & echo begun; while :; do sleep 0.1; done`,
    );
    const one = lab.executor("first").start(request);
    await lab.says(request, "begun");
    one.askToEnd();
    assert.deepEqual(await one.ended, { kind: "cancelled" });
    assert.match(lab.log(request), /begun\n(Terminated\n)?ending\n/);
    assert.deepEqual(running(sleep), []);
  });

  it("a stage that ignores the wish is killed, with its children", async (lab) => {
    const sleep = lab.sleep();
    const request = lab.request(`trap '' TERM; setsid ${sleep} & echo begun; while :; do sleep 0.1; done`);
    const one = lab.executor("first").start(request);
    await lab.says(request, "begun");
    one.kill();
    assert.deepEqual(await one.ended, { kind: "cancelled" });
    assert.deepEqual(running(sleep), []);
  });

  it("a stage that is asked to end before it begins does not begin", async (lab) => {
    const request = lab.request('echo begun > "$HOME/../out/begun"; sleep 2');
    const one = lab.executor("first").start(request);
    one.kill();
    assert.deepEqual(await one.ended, { kind: "cancelled" });
    assert.ok(!existsSync(join(request.work, "out/begun")));
  });

  it("a stage without a network sees no device but the loopback", async (lab) => {
    const request = lab.request("tail -n +3 /proc/net/dev | sed 's/:.*//'", { network: "none" });
    assert.equal((await lab.executor("first").start(request).ended).kind, "succeeded", lab.log(request));
    assert.match(lab.log(request), /^ *lo\n$/m);
    assert.doesNotMatch(lab.log(request), /eth|ens/);
  });

  it("a stage that opens strangers' files sees its own, writes its outputs, and nothing else", async (lab) => {
    const script = [
      'cat "$HOME/../in/weights"; ls "$HOME/../.." "$ROOT" /root /home 2>&1',
      'for path in "$HOME/../in/more" "$HOME/../more" "$ROOT/more"; do echo x > "$path" && echo "wrote $path"; done',
      "tail -n +3 /proc/net/dev | sed 's/:.*//'",
      'echo kept > "$HOME/../out/a"',
    ];
    const request = lab.walled(script.join("\n"));
    const result = await lab.executor("first").start(request).ended;
    assert.equal(result.kind, "succeeded", lab.log(request));
    assert.match(lab.log(request), /^weights$/m);
    assert.doesNotMatch(lab.log(request), /^wrote|^secret|eth|ens/m);
    assert.match(lab.log(request), /^ *lo$/m);
    assert.equal(readFileSync(join(request.work, "out/a"), "utf8"), "kept\n");
  });

  it("a stage that opens strangers' files is ended at the limits of its walls", async (lab) => {
    const command = "python3 -c 'held = bytearray(400 << 20); import time; time.sleep(60)'";
    const at = lab.executor("first");
    const late = lab.walled(`setsid sleep 60 & sleep 60`, { limits: { timeMs: 1_500 } });
    const [over, overdue] = await Promise.all([lab.walled(command), late].map((one) => at.start(one).ended));
    assert.equal(over!.kind, "failed");
    assert.deepEqual(overdue, {
      kind: "failed",
      cause: "time-limit",
      detail: "did not end within 1.5 s",
    });
  });

  if (!options.adopts) return;

  it("a later run adopts what a dead run left running, once, by its key", async (lab) => {
    const request = lab.request(`echo begun; until test -e "$HOME/../out/go"; do sleep 0.1; done; echo went`);
    void lab.executor("first").start(request);
    await lab.says(request, "begun");
    const second = lab.executor("second");
    assert.equal(await second.adopt!("another key"), undefined);
    const adopted = await second.adopt!(request.key);
    assert.equal(adopted?.work, request.work);
    assert.equal(await second.adopt!(request.key), undefined);
    mkdirSync(join(request.work, "out/go"));
    assert.equal((await adopted.running.ended).kind, "succeeded", lab.log(request));
    assert.match(lab.log(request), /begun\nwent\n/);
  });

  it("what a living run has adopted is neither adopted nor ended by a third run", async (lab) => {
    const request = lab.request(`echo begun; until test -e "$HOME/../out/go"; do sleep 0.1; done; echo went`);
    void lab.executor("first").start(request);
    await lab.says(request, "begun");
    const adopted = await lab.executor("second").adopt!(request.key);
    const third = lab.executor("third", (run) => run === "second");
    assert.equal(await third.adopt!(request.key), undefined);
    assert.equal(await third.clearLeft!(), true);
    mkdirSync(join(request.work, "out/go"));
    assert.equal((await adopted!.running.ended).kind, "succeeded", lab.log(request));
    assert.match(lab.log(request), /begun\nwent\n/);
  });

  it("a later run adopts the result of what ended without a run", async (lab) => {
    const request = lab.request("echo ended");
    const first = lab.executor("first").start(request);
    await first.ended;
    const adopted = await lab.executor("second").adopt!(request.key);
    // an executor may have removed what ended under the eyes of its run
    if (adopted) assert.equal((await adopted.running.ended).kind, "succeeded");
  });

  it("what no run adopted is ended, and what belongs to a living run is left alone", async (lab) => {
    const [kept, lost] = [lab.sleep(), lab.sleep()];
    const living = lab.request(`echo begun; ${kept}`);
    const dead = lab.request(`echo begun; ${lost}`);
    const keeper = lab.executor("living");
    const one = keeper.start(living);
    void lab.executor("dead").start(dead);
    await lab.says(living, "begun");
    await lab.says(dead, "begun");
    assert.equal(await lab.executor("third", (run) => run === "living").clearLeft!(), true);
    assert.equal(running(kept).length, 1);
    assert.deepEqual(running(lost), []);
    one.kill();
    await one.ended;
  });
}

let sleeps = 0;

export class ContractLab {
  readonly #t: TestContext;
  readonly #make: MakeExecutor;
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-contract-")));
  /** What runs have taken of dead ones. */
  readonly #taken = new Map<string, string>();
  readonly #started = new Set<Running>();
  #requests = 0;

  constructor(t: TestContext, make: MakeExecutor) {
    this.#t = t;
    this.#make = make;
    mkdirSync(join(this.#folder, "work"));
    mkdirSync(join(this.#folder, "repository"));
    t.after(async () => {
      // a case that failed may have left some, which would be followed for ever
      for (const one of this.#started) one.kill();
      const ended = Promise.all([...this.#started].map((one) => one.ended));
      await Promise.race([ended, sleep(10_000, undefined, { ref: false })]);
      removeFolder(this.#folder);
    });
  }

  executor(run: string, isLive: (run: string) => boolean = () => false): Executor {
    const work = join(this.#folder, "work");
    mkdirSync(join(work, run), { recursive: true });
    const take = (from: string, name: string) => {
      const of = `${from} ${name}`;
      const holder = this.#taken.get(of) ?? run;
      if (holder !== run && isLive(holder)) return false;
      this.#taken.set(of, run);
      return true;
    };
    const made = this.#make({ root: join(this.#folder, "repository"), work, run, isLive, take });
    this.#t.after(() => made.close?.());
    const start = made.start.bind(made);
    made.start = (request) => {
      const one = start(request);
      this.#started.add(one);
      void one.ended.finally(() => this.#started.delete(one));
      return one;
    };
    return made;
  }

  /** A command line that nothing else on this machine runs. */
  sleep(): string {
    return `sleep 3${process.pid}.${Date.now()}${++sleeps}`;
  }

  request(command: string, more: Partial<ExecutionRequest> = {}): ExecutionRequest {
    const work = join(this.#folder, `work/slot-${++this.#requests}`);
    for (const part of ["in", "out", "tmp"]) mkdirSync(join(work, part), { recursive: true });
    return {
      id: `stage-${this.#requests}`,
      key: `key-${this.#requests}`,
      token: `mlrb:contract:${process.pid}:${this.#requests}:`,
      run: { kind: "command", command },
      root: join(this.#folder, "repository"),
      work,
      env: { PATH: process.env.PATH!, HOME: join(work, "tmp"), GREETING: "hello, world" },
      inputs: {},
      outputs: {},
      log: join(work, "log"),
      limits: {},
      reads: [],
      writes: [],
      cpus: 1,
      gpus: [],
      ...more,
    };
  }

  /** A stage that opens what untrusted code made: `in/weights`. */
  walled(command: string, more: Partial<ExecutionRequest> = {}): ExecutionRequest {
    const request = this.request(command, { network: "none", ...more });
    const { work, root, token, env } = request;
    writeFileSync(join(work, "in/weights"), "weights\n");
    writeFileSync(join(root, "secret"), "key\n");
    const walls: StageWalls = {
      ...(process.getuid?.() === 0 && { user: sandboxUser(token) }),
      ...{
        required: true,
        reads: [work, join(root, "stage")],
        writes: [join(work, "out"), join(work, "tmp")],
      },
      limits: { memoryBytes: 100 << 20, processes: 64, fileBytes: 1 << 20 },
    };
    writeFileSync(join(root, "stage"), "declared\n");
    return { ...request, env: { ...env, ROOT: root }, walls };
  }

  log({ log }: ExecutionRequest): string {
    return existsSync(log) ? readFileSync(log, "utf8") : "";
  }

  async says(request: ExecutionRequest, text: string): Promise<void> {
    await until(`"${text}" in the log`, () => this.log(request).includes(text));
  }
}

/** The pids of the processes with this command line. */
export function running(line: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isRunning(pid))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "latin1") === `${line.replace(" ", "\0")}\0`;
      } catch {
        return false; // it ended
      }
    });
}
