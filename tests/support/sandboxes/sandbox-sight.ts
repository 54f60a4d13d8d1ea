// Checks what programs inside see, which user they are, what they may change and which servers they reach.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "../processes.ts";
import type { Check } from "./sandbox-lab.ts";

export function checkSight(check: Check, { hostLoopback }: { hostLoopback: boolean }): void {
  check("a program sees its files, the given data, the system's programs and nothing else", async (at) => {
    const secrets = join(at.outside, "secrets");
    mkdirSync(secrets);
    writeFileSync(join(secrets, "key"), "sk-secret");
    const repository = realpathSync(join(dirname(fileURLToPath(import.meta.url)), "../../.."));
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
      "/sys/block",
      "/sys/class",
      "/sys/devices",
      "/sys/module",
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
    // the host's processes, and the parent of this one, would be visible here
    assert.ok(seen.pids.length <= 4 && seen.pids.includes(1), String(seen.pids));
    // its own arguments come from the test
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

  check("a program is an ordinary user without capabilities, and cannot become another user", async (at) => {
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
          /^(EPERM|EACCES|ENOSYS|EROFS|ENOENT|EINVAL|EAFNOSUPPORT|ENOKEY|refused|PermissionError|ValueError)$/,
          `${what}: ${result}`,
        );
    assert.ok(!["EINVAL", "ENOENT"].includes(rose.ptrace), "no process but its own may be traced");
  });

  if (process.arch === "x64")
    check("calls by the numbers of x32 do not exist, or are refused, and end no program", async (at) => {
      const { seen } = await at.tells("callsX32");
      assert.equal(seen.getpid, "ENOSYS");
      assert.match(seen.mount, /^(ENOSYS|EPERM)$/);
    });

  if (process.getuid?.() === 0) {
    check("on the host its programs belong neither to root nor to a user with an account", async (at) => {
      const running = at.starts("ignoresSignals");
      const [pid] = await until("the program", () => nonEmpty(at.alive()));
      const uid = Number(/^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))![1]);
      const accounts = readFileSync("/etc/passwd", "utf8")
        .split("\n")
        .map((line) => Number(line.split(":")[2]));
      assert.ok(uid !== 0 && !accounts.includes(uid), `runs as ${uid}`);
      await at.sandbox.kill();
      await running;
    });
  }

  check("read-only data cannot be written, moved, replaced or remounted", async (at) => {
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
}

function nonEmpty<T>(all: T[]): T[] | undefined {
  return all.length > 0 ? all : undefined;
}
