// What every sandbox with walls must hold, tried from inside by programs that mean harm. Runs against any
// maker of sandboxes: the maker is a module with an `open`, so that a supervisor that is to be killed can
// import it too.
import assert from "node:assert/strict";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isRunning, until } from "./processes.ts";
import { type LabChanges, lab, type SandboxLab, type SandboxMaker, suiteLimits } from "./sandbox-lab.ts";

export type SuiteOptions = {
  /** For the titles, e.g. `bubblewrap`. */
  name: string;
  /** The file of a module that exports what `SandboxMaker` declares. */
  maker: string;
  /** Why nothing of it can run here. */
  skip?: string | undefined;
  /** Where inside a network that is open the host's own loopback is reached; undefined where it is not. */
  hostLoopback?: boolean;
};

const mib = 1 << 20;

export function sandboxSuite({ name, maker, skip, hostLoopback = true }: SuiteOptions): void {
  const options = { timeout: 90_000, ...(skip !== undefined && { skip }) };
  const check = (title: string, body: (at: SandboxLab) => Promise<void>, changes: LabChanges = {}) =>
    test(`${name}: ${title}`, options, async (t) => body(await lab(t, maker, changes)));

  check("a program sees its files, the given data, the system's programs and nothing else", async (at) => {
    const secrets = join(at.outside, "secrets");
    mkdirSync(secrets);
    writeFileSync(join(secrets, "key"), "sk-secret");
    const repository = realpathSync(join(dirname(fileURLToPath(import.meta.url)), "../.."));
    const hidden = [
      secrets,
      join(secrets, "key"),
      repository,
      join(repository, ".mlrb"),
      at.under,
      at.outside,
      "/root",
      "/home",
      "/var/run/docker.sock",
      "/run/docker.sock",
      "/etc/shadow",
      "/etc/sudoers",
      "/etc/ssh",
      "/boot",
      "/sys/fs/cgroup/memory/cgroup.procs",
      "/sys/kernel/debug",
      "/proc/kcore",
      "/proc/keys",
      "/dev/mem",
      "/dev/vda",
      "/dev/kvm",
      "/dev/loop-control",
    ];
    process.env.MLRB_TEST_SECRET = "sk-secret";
    const { seen, text } = await at.tells("looks", ...hidden, at.reads[0]!, at.inside("workspace/data"));
    for (const path of hidden) {
      const what = seen.paths[path];
      const nothing =
        /^(ENOENT|EACCES|EPERM|ENXIO|file of 0)$/.test(String(what)) ||
        (Array.isArray(what) && what.length === 0);
      assert.ok(nothing, `${path}: ${JSON.stringify(what)}`);
    }
    assert.deepEqual(seen.paths[at.reads[0]!], ["library.py"]);
    assert.deepEqual(seen.paths[at.inside("workspace/data")], ["a.txt"]);
    assert.doesNotMatch(text, /sk-secret|MLRB_TEST_SECRET/);
    assert.deepEqual(
      Object.keys(seen.env)
        .filter((one) => !/^(LC_CTYPE|PWD|SHLVL|_|HOSTNAME)$/.test(one))
        .sort(),
      ["HOME", "PATH", "TMPDIR", "X"],
    );
    // processes of the host would show here, and so would what started this one
    assert.ok(seen.pids.length <= 4 && seen.pids.includes(1), String(seen.pids));
    // its own arguments are what the test gave it
    for (const command of (seen.commands as string[]).filter((one) => !one.includes(at.mark)))
      assert.ok(!command.includes(at.under) && !command.includes(repository), command);
    const leaked = (seen.environments as string[]).filter((one) => /SECRET|MLRB_TOKEN/.test(one));
    assert.deepEqual(leaked, []);
    for (const device of seen.dev as string[])
      assert.match(
        device,
        /^(console|core|fd|full|mqueue|null|ptmx|pts|random|shm|std(in|out|err)|tty|urandom|zero)$/,
      );
    assert.deepEqual(
      (seen.descriptors as number[]).filter((one) => one > 3),
      [],
    );
    assert.notEqual(seen.host, readFileSync("/proc/sys/kernel/hostname", "utf8").trim());
    assert.equal(seen.tty, "ENXIO");
  });

  check(
    "a program is an ordinary user without a single capability, and cannot become another",
    async (at) => {
      const { seen } = await at.tells("looks");
      assert.ok(
        [...seen.uid, ...seen.gid].every((id: number) => id !== 0 && id === seen.uid[0]),
        String(seen.uid),
      );
      assert.ok(
        (seen.groups as number[]).every((id) => id === seen.gid[0] || id === 65534),
        String(seen.groups),
      );
      assert.deepEqual(seen.caps, { CapInh: 0, CapPrm: 0, CapEff: 0, CapBnd: 0, CapAmb: 0 });
      assert.equal(seen.noNewPrivileges, 1);
      const { seen: rose } = await at.tells("rises", "mlrb-test-key");
      assert.equal(rose.programs, "none rises");
      for (const [what, result] of Object.entries(rose))
        if (what !== "programs")
          assert.match(
            String(result),
            /^(EPERM|EACCES|ENOSYS|EROFS|ENOENT|EINVAL|ENOKEY|refused|PermissionError|ValueError)$/,
            `${what}: ${result}`,
          );
      assert.ok(!["EINVAL", "ENOENT"].includes(rose.ptrace), "no process but its own may be traced");
    },
  );

  if (process.getuid?.() === 0) {
    check(
      "seen from the host its programs are no root's either, nor any user's who has an account",
      async (at) => {
        const running = at.starts("ignoresSignals");
        const [pid] = await until("the program", () => nonEmpty(at.alive()));
        const uid = Number(/^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))![1]);
        const accounts = readFileSync("/etc/passwd", "utf8")
          .split("\n")
          .map((line) => Number(line.split(":")[2]));
        assert.ok(uid !== 0 && !accounts.includes(uid), `runs as ${uid}`);
        await at.sandbox.kill();
        await running;
      },
    );
  }

  check("read-only data cannot be written, moved, replaced or mounted anew", async (at) => {
    const { seen } = await at.tells("overwrites", at.inside("workspace/data"));
    const { still, ...ways } = seen;
    assert.equal(still, "public");
    for (const [way, result] of Object.entries(ways))
      assert.match(String(result), /^(EROFS|EACCES|EPERM|EBUSY|EXDEV|ENOSYS|ENOENT)$/, `${way}: ${result}`);
    assert.deepEqual(readdirSync(join(at.under, at.folder(), "workspace/data")), ["a.txt"]);
    const said = await at.runs([
      "sh",
      "-c",
      `echo x > ${at.reads[0]}/x; echo y >> ${at.reads[0]}/library.py; touch /usr/x /etc/x /x; ls /x /usr/x`,
    ]);
    assert.doesNotMatch(said.text, /^\/(usr\/)?x$/m);
    assert.deepEqual(readdirSync(at.reads[0]!), ["library.py"]);
    assert.equal(readFileSync(join(at.reads[0]!, "library.py"), "utf8"), "given");
  });

  check(
    "without a network a program reaches neither the host's servers nor its sockets nor the world",
    async (at) => {
      const { seen } = await at.tells("reaches", ...(await at.serves()));
      const { interfaces, ...tried } = seen;
      assert.deepEqual(
        (interfaces as string[]).filter(
          (one) => !/^(lo|tunl0|sit0|gre0|gretap0|erspan0|ip6tnl0|ip_vti0|ip6_vti0|ip6gre0)$/.test(one),
        ),
        [],
      );
      for (const [what, result] of Object.entries(tried))
        assert.ok(!/done|hello/.test(String(result)), `${what}: ${result}`);
    },
  );

  if (hostLoopback)
    check(
      "with a network a program reaches a server, and still no socket in a hidden folder",
      async (at) => {
        const { seen } = await at.tells("reaches", ...(await at.serves()));
        assert.equal(seen.tcp, "hello tcp");
        assert.equal(seen.udp, "hello udp");
        assert.doesNotMatch(seen.socket, /hello/);
        assert.doesNotMatch(seen.netlink, /done/);
      },
      { network: "full" },
    );

  check("a fork bomb stops at the limit, is told of, and leaves room for the next program", async (at) => {
    const { seen, result } = await at.tells("forkBomb");
    assert.ok(seen.children >= 8 && seen.children <= suiteLimits.processes, String(seen.children));
    assert.equal("over" in result && result.over?.limit, "processes", JSON.stringify(result));
    await at.sandbox.kill();
    assert.deepEqual(at.alive(), []);
    assert.equal((await at.runs(["true"])).result.kind, "exited");
  });

  for (const where of ["one", "child", "shm", "tmp"] as const)
    check(
      {
        one: "a program that takes too much memory is stopped, and told apart from one that fails",
        child: "a child that takes too much memory is told of, though its parent returns 0",
        shm: "shared memory counts as memory",
        tmp: "files in /tmp count as memory or as disk, and end",
      }[where],
      async (at) => {
        const { result, text } = await at.ends("memoryHog", where, 600);
        assert.doesNotMatch(text, /"held": 600|"written": 600/);
        const over = "over" in result ? result.over?.limit : undefined;
        // a folder in memory with a size of its own refuses, which is as good
        const refused = /"error": "(ENOSPC|EDQUOT|EFBIG)"/.test(text);
        assert.ok(
          over === "memory" || (["shm", "tmp"].includes(where) && (refused || over === "disk")),
          JSON.stringify({ result, text }),
        );
        assert.equal((await at.runs(["true"])).result.kind, "exited");
      },
    );

  for (const [how, most] of [
    ["files", 400],
    ["unlinked", 400],
    ["inodes", 50_000],
    ["huge", 400],
  ] as const)
    check(
      {
        files: "a program that fills the disk is ended, and that is what is told",
        unlinked: "files without a name count as disk too",
        inodes: "a great many empty files count as disk too",
        huge: "one huge file ends the same way",
      }[how],
      async (at) => {
        const { result, text } = await at.ends("diskFiller", how, most);
        assert.equal("over" in result && result.over?.limit, "disk", JSON.stringify({ result, text }));
        assert.deepEqual(at.alive(), []);
      },
    );

  check("a program that ignores signals is dead when kill returns", async (at) => {
    const running = at.starts("ignoresSignals");
    await until("it to ignore", () => at.said().includes("ignoring"));
    await at.sandbox.kill();
    assert.deepEqual(at.alive(), []);
    const result = await running;
    assert.equal(result.kind, "signalled");
  });

  check(
    "what went away, by double fork, new session and without environment, lives until kill and not longer",
    async (at) => {
      const { result } = await at.ends("escapes");
      assert.deepEqual(result, { kind: "exited", code: 0 });
      assert.equal((await until("the three", () => at.alive().length === 3 && at.alive())).length, 3);
      assert.equal((await at.runs(["true"])).result.kind, "exited");
      assert.equal(at.alive().length, 3, "another program's end takes nothing with it");
      await at.sandbox.kill();
      assert.deepEqual(at.alive(), []);
    },
  );

  check("nohup, setsid and a stopped child do not outlive kill", async (at) => {
    await at.runs([
      "sh",
      "-c",
      `nohup setsid sh -c 'while :; do sleep 600; done' ${at.mark} >/dev/null 2>&1 & sleep 600 & kill -STOP $!; sh -c 'kill -STOP $$' ${at.mark} &`,
    ]);
    await until("them", () => at.alive().length >= 2);
    await at.sandbox.kill();
    assert.deepEqual(at.alive(), []);
  });

  check("a frozen sandbox does nothing, and can be ended", async (at) => {
    const running = at.starts("counts");
    const file = "tmp/count";
    const count = async () =>
      Buffer.from((await at.sandbox.get(file, { from: 0, bytesMax: 99 })) ?? []).toString();
    await until("counting", () => at.said().includes("counting"));
    let first = "";
    for (let round = 0; round < 200 && first === ""; round++) {
      first = await count();
      await sleep(10);
    }
    await at.sandbox.freeze();
    const still = await count();
    await sleep(200);
    assert.equal(await count(), still);
    assert.equal(at.alive().length, 1);
    await at.sandbox.kill();
    assert.deepEqual(at.alive(), []);
    assert.equal((await running).kind, "signalled");
  });

  check(
    "a program that kills all it can, the first process too, ends itself and nothing of the sandbox",
    async (at) => {
      const other = at.starts("ignoresSignals");
      await until("the other", () => at.said().includes("ignoring"));
      const { text, result } = await at.ends("killsAll");
      assert.match(text, /alone/);
      assert.deepEqual(result, { kind: "exited", code: 0 });
      assert.deepEqual(await other, { kind: "signalled", signal: "SIGKILL" });
      assert.deepEqual((await at.runs(["sh", "-c", "exit 3"])).result, { kind: "exited", code: 3 });
    },
  );

  check("exit codes and signals come back as they were", async (at) => {
    assert.deepEqual((await at.runs(["sh", "-c", "exit 126"])).result, { kind: "exited", code: 126 });
    assert.deepEqual((await at.runs(["sh", "-c", "exit 255"])).result, { kind: "exited", code: 255 });
    assert.deepEqual((await at.runs(["sh", "-c", "kill -SEGV $$"])).result, {
      kind: "signalled",
      signal: "SIGSEGV",
    });
    const missing = (await at.runs(["/no/such/program"])).result;
    assert.equal(missing.kind, "not-started", JSON.stringify(missing));
    assert.deepEqual((await at.ends("closes")).result, { kind: "exited", code: 7 });
  });

  check("a flood of output arrives whole, and in order", async (at) => {
    const { result, streams } = await at.ends("floods", 32);
    assert.deepEqual(result, { kind: "exited", code: 0 });
    assert.equal(streams.stdout, 32 * mib);
    assert.equal(streams.stderr, 3);
  });

  check("arguments and variables arrive as they were, newlines and all", async (at) => {
    const { text } = await at.runs(
      [
        "/usr/bin/python3",
        "-I",
        "-S",
        "-c",
        "import os,sys; print(sys.argv[1:], os.environ['ODD'], os.getcwd())",
        "",
        "a\nb",
        "ü",
      ],
      { ODD: "x=1\ny" },
    );
    assert.equal(text, `['', 'a\\nb', 'ü'] x=1\ny ${at.inside("workspace")}\n`);
  });

  check("two programs at once each have their own output and end", async (at) => {
    const slow = at.runs(["sh", "-c", "echo slow; read x < /dev/null; sleep 0.3; exit 4"]);
    const quick = at.runs(["sh", "-c", "echo quick; exit 5"]);
    assert.deepEqual([(await quick).text, (await quick).result], ["quick\n", { kind: "exited", code: 5 }]);
    assert.deepEqual([(await slow).text, (await slow).result], ["slow\n", { kind: "exited", code: 4 }]);
  });

  check("a submission full of links, pipes, odd names and depth leads the harness nowhere", async (at) => {
    const secret = join(at.outside, "secret");
    writeFileSync(secret, "untouched");
    const { seen } = await at.tells("tricks", at.inside("workspace/submission"), secret);
    assert.equal(seen.deep, 300);
    assert.match(seen.hardlink, /^(EXDEV|EPERM|EROFS|EACCES)$/);
    const to = join(at.outside, "snapshot");
    const taken = await at.sandbox.snapshot({
      inside: "workspace/submission",
      to,
      limits: { bytesMax: mib, filesMax: 1000 },
    });
    if (taken.kind === "taken") {
      for (const { path } of taken.tree.files)
        assert.match(path, /^(plain|second|closed|shut\/inside|sparse)$/);
      const kept = Object.fromEntries(taken.tree.leftOut.map(({ path, why }) => [path, why]));
      assert.equal(kept.link, "symbolic link");
      assert.equal(kept.pipe, "named pipe");
    } else assert.equal(taken.kind, "over-limits"); // where the file system lets a sparse file be that large
    for (const path of ["link", "procfs", "up/up", "pipe", "socket", "loop"])
      assert.equal(
        await at.sandbox.get(`workspace/submission/${path}`, { from: 0, bytesMax: 99 }),
        undefined,
        path,
      );
    // what the harness puts where links lie goes beside them, never through them
    const file = join(at.outside, "given");
    writeFileSync(file, "given");
    await at.sandbox.put(file, "workspace/submission/link");
    await assert.rejects(at.sandbox.put(file, "workspace/submission/up/escaped"), /up/);
    assert.equal(readFileSync(secret, "utf8"), "untouched");
    assert.equal(
      Buffer.from((await at.sandbox.get("workspace/submission/link", { from: 0, bytesMax: 9 }))!).toString(),
      "given",
    );
  });

  check(
    "a path that is swapped for a link meanwhile never takes what is put, or gives what it points at",
    async (at) => {
      const secret = join(at.outside, "secret");
      mkdirSync(secret);
      writeFileSync(join(secret, "file"), "untouched");
      chmodSync(secret, 0o700);
      const before = statSync(join(secret, "file"));
      const running = at.starts("swaps", at.inside("workspace/submission/swap"), secret);
      await until("swapping", () => at.said().includes("swapping"));
      const given = join(at.outside, "given");
      mkdirSync(given);
      writeFileSync(join(given, "file"), "given");
      for (let round = 0; round < 150; round++) {
        await at.sandbox.put(join(given, "file"), "workspace/submission/swap/x/file").catch(() => {});
        await at.sandbox.put(given, "workspace/submission/swap/x").catch(() => {});
        const got = await at.sandbox.get("workspace/submission/swap/x/file", { from: 0, bytesMax: 99 });
        assert.notEqual(got && Buffer.from(got).toString(), "untouched");
      }
      await at.sandbox.kill();
      await running;
      assert.deepEqual(readdirSync(secret), ["file"]);
      assert.equal(readFileSync(join(secret, "file"), "utf8"), "untouched");
      const after = statSync(join(secret, "file"));
      assert.deepEqual([after.uid, after.mode, after.ino], [before.uid, before.mode, before.ino]);
      assert.equal(statSync(secret).mode & 0o777, 0o700);
    },
  );

  check("a file that is put while programs run is there, and is theirs", async (at) => {
    await at.runs(["true"]);
    const file = join(at.outside, "later.txt");
    writeFileSync(file, "later", { mode: 0o600 });
    await at.sandbox.put(file, "workspace/notes/later.txt");
    const { text } = await at.runs([
      "sh",
      "-c",
      "cat notes/later.txt && echo more >> notes/later.txt && rm -r notes && ls",
    ]);
    assert.equal(text, "laterdata\nsubmission\n");
  });

  check("after close nothing is left on the host, whatever was in the folder", async (at) => {
    await at.tells("tricks", at.inside("workspace/submission"), "/etc/hosts");
    void at.starts("escapes").catch(() => {});
    await until("the three", () => at.alive().length >= 3);
    await at.sandbox.close();
    assert.deepEqual(at.alive(), []);
    assert.deepEqual(readdirSync(at.under), []);
  });

  test(`${name}: after kill -9 of the supervisor no process of the sandbox is left`, options, async (t) => {
    const at = await lab(t, maker, { closed: true });
    for (const program of ["ignoresSignals", "escapes"] as const) {
      const supervisor = at.supervised(program);
      await until(
        "its programs",
        () => at.alive().length >= (program === "escapes" ? 3 : 1) || supervisor.exitCode !== null,
      );
      assert.equal(supervisor.exitCode, null);
      supervisor.kill("SIGKILL");
      await until("the supervisor's end", () => !isRunning(supervisor.pid!));
      const { sweep } = (await import(maker)) as SandboxMaker;
      await sweep?.(at.token);
      await until("the programs' end", () => at.alive().length === 0, 10_000);
    }
  });
}

function nonEmpty<T>(all: T[]): T[] | undefined {
  return all.length > 0 ? all : undefined;
}
