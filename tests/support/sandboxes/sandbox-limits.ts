// Checks programs that exceed their limits.
import assert from "node:assert/strict";
import { type Check, suiteLimits } from "./sandbox-lab.ts";

const mib = 1 << 20;

/** docs/security.md: 2 % and 16 MiB above the limit. */
const slackBytes = 0.02 * suiteLimits.diskBytes + 16 * mib;

export function checkLimits(check: Check): void {
  check("a fork bomb stops at the limit, is reported, and leaves room for the next program", async (at) => {
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
        one: "a program that uses too much memory is stopped, and distinguished from a failing one",
        child: "a child that uses too much memory is reported, though its parent returns 0",
        shm: "shared memory counts as memory",
        tmp: "files in /tmp count as memory or as disk, and end",
      }[where],
      async (at) => {
        const { result, text } = await at.ends("memoryHog", where, 600);
        assert.doesNotMatch(text, /"written": 600/);
        const over = "over" in result ? result.over?.limit : undefined;
        // an in-memory folder with its own size limit refuses, which is equally good
        const refused = /"error": "(ENOSPC|EDQUOT|EFBIG)"/.test(text);
        assert.ok(
          over === "memory" || (["shm", "tmp"].includes(where) && (refused || over === "disk")),
          JSON.stringify({ result, text }),
        );
        assert.equal((await at.runs(["true"])).result.kind, "exited");
      },
    );

  for (const [how, place] of [
    ["queued", "in the queues of sockets"],
    ["nested", "in the queue of a socket in a queue"],
    ["unaccepted", "in connections that nothing accepts"],
    ["mapped", "that are only mapped"],
    ["relay", "of processes that live for a moment"],
    ["leaderless", "of a process whose first thread ended"],
  ] as const)
    check(`deleted files ${place} take no more disk than the limit`, async (at) => {
      await at.runs(["true"]);
      const { text, result } = await at.ends("hiddenFiles", how, 160);
      const over = "over" in result && result.over?.limit === "disk";
      // the kernel ends a program that writes to a mapped page for which there is no room
      const ended = result.kind === "signalled" && result.signal === "SIGBUS";
      assert.ok(over || ended, JSON.stringify({ result, text }));
      // a poll finds it later than the kernel
      if (at.sandbox.where?.()?.diskLimit !== "kernel") return;
      const held = Number(/"held": (\d+)/.exec(text)?.[1] ?? 0);
      assert.ok(held * mib <= suiteLimits.diskBytes + slackBytes, JSON.stringify({ result, text }));
    });

  check(
    "honest programs that hand descriptors over, or hang with one in a queue, are not ended",
    async (at) => {
      const { result, text } = await at.ends("handsOver");
      assert.deepEqual(result, { kind: "exited", code: 0 }, text);
    },
    // what other tests write meanwhile counts too where the disk is polled (ADR 19)
    { limits: { diskBytes: 2048 * mib } },
  );

  for (const how of ["memfd", "sysv", "anonymous", "buffers"] as const)
    check(
      {
        memfd: "memory files in the queues of sockets take no more memory than the limit",
        sysv: "System V segments without a process take no more memory than the limit",
        anonymous: "memory that processes share without a file takes no more than the limit",
        buffers: "the buffers of sockets take no more memory than the limit",
      }[how],
      async (at) => {
        await at.runs(["true"]);
        const polled = at.sandbox.where?.()?.memoryLimit === "polled";
        if (polled && how === "buffers") return at.skips("this user may make no control group for memory");
        const { text, result } = await at.ends("hiddenMemory", how, 600);
        const held = Math.max(0, ...[...text.matchAll(/"held": (\d+)/g)].map(([, one]) => Number(one)));
        const refused = held === 0 && /"error": "(ENOSYS|EPERM)"/.test(text);
        const over = "over" in result ? result.over?.limit : undefined;
        assert.ok(refused || over === "memory", JSON.stringify({ result, text }));
        // a check four times a second finds it later than the kernel
        if (!polled) assert.ok(held * mib <= suiteLimits.memoryBytes, text);
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
        files: "a program that fills the disk is ended with that reason",
        unlinked: "files without a name count as disk too",
        inodes: "a great many empty files count as disk too",
        huge: "one huge file ends the same way",
      }[how],
      async (at) => {
        const { result, text } = await at.ends("diskFiller", how, most);
        // a file system of its own may refuse before the next check, and the program ends itself
        const refused = at.sandbox.where?.()?.diskLimit === "kernel" && /No space left on device/.test(text);
        const over = "over" in result && result.over?.limit === "disk";
        assert.ok(over || refused, JSON.stringify({ result, text }));
        assert.deepEqual(at.alive(), []);
      },
    );
}
