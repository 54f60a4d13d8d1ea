// Checks how programs run, and how they and their descendants are stopped and ended.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../processes.ts";
import type { Check } from "./sandbox-lab.ts";

const mib = 1 << 20;

export function checkPrograms(check: Check): void {
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

  check(
    "a frozen sandbox does nothing, starts nothing, goes on when it thaws, and can be ended",
    async (at) => {
      const running = at.starts("counts");
      const count = async () =>
        Buffer.from((await at.sandbox.get("tmp/count", { from: 0, bytesMax: 99 })) ?? []).toString();
      const counts = async () => {
        const before = Number(await count());
        for (let round = 0; round < 500; round++) {
          if (Number(await count()) > before) return true;
          await sleep(10);
        }
        return false;
      };
      await until("counting", () => at.said().includes("counting"));
      assert.ok(await counts());
      for (let round = 0; round < 2; round++) {
        assert.equal(await at.sandbox.freeze(), true);
        const still = await count();
        const other = at.runs(["true"]);
        await sleep(200);
        assert.equal(await count(), still);
        assert.equal(at.alive().length, 1);
        assert.equal(await at.sandbox.thaw(), true);
        assert.ok(await counts(), "it goes on");
        assert.deepEqual((await other).result, { kind: "exited", code: 0 });
      }
      await at.sandbox.freeze();
      await at.sandbox.kill();
      assert.deepEqual(at.alive(), []);
      assert.equal((await running).kind, "signalled");
    },
  );

  check("chains of processes that fork and end are frozen too", async (at) => {
    const running = at.starts("passesOn");
    const passed = async () =>
      (await at.sandbox.get("tmp/passed", { from: 0, bytesMax: 1 << 26 }))?.length ?? 0;
    while ((await passed()) < 20) await sleep(10);
    assert.equal(await at.sandbox.freeze(), true);
    const still = await passed();
    await sleep(200);
    assert.equal(await passed(), still);
    assert.equal(await at.sandbox.thaw(), true);
    while ((await passed()) === still) await sleep(10);
    await at.sandbox.freeze();
    await at.sandbox.kill();
    await running;
  });

  check("a program that stopped itself stays stopped when the others continue", async (at) => {
    const running = at.runs(["sh", "-c", "sleep 600 & kill -STOP $!; echo stopped $!.; wait"]);
    const pid = await until("it to stop", () => /stopped (\d+)\./.exec(at.said())?.[1]);
    await at.sandbox.freeze();
    assert.equal(await at.sandbox.thaw(), true);
    assert.match((await at.runs(["cat", `/proc/${pid}/status`])).text, /^State:\s+T/m);
    await at.sandbox.kill();
    await running;
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

  check("exit codes and signals are returned unchanged", async (at) => {
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

  check("a flood of output arrives complete and in order", async (at) => {
    const { result, streams } = await at.ends("floods", 32);
    assert.deepEqual(result, { kind: "exited", code: 0 });
    assert.equal(streams.stdout, 32 * mib);
    assert.equal(streams.stderr, 3);
  });

  check("arguments and variables arrive unchanged, with newlines", async (at) => {
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

  check("two concurrent programs have separate outputs and ends", async (at) => {
    const slow = at.runs(["sh", "-c", "echo slow; read x < /dev/null; sleep 0.3; exit 4"]);
    const quick = at.runs(["sh", "-c", "echo quick; exit 5"]);
    assert.deepEqual([(await quick).text, (await quick).result], ["quick\n", { kind: "exited", code: 5 }]);
    assert.deepEqual([(await slow).text, (await slow).result], ["slow\n", { kind: "exited", code: 4 }]);
  });
}
