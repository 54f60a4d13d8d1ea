// The operator desk over a real socket, in a folder whose path is longer than a socket address may be.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { operatorDesk } from "@mlrb/agents/waiting/operator-desk";
import { waitBoard } from "@mlrb/agents/waiting/wait-board";
import { resumeAttempt } from "@mlrb/local/resume/resume-attempt";

function folderOf(t: TestContext): string {
  const above = mkdtempSync(join(tmpdir(), "mlrb-desk-"));
  t.after(() => rmSync(above, { recursive: true }));
  const folder = join(above, "a".repeat(100), "b".repeat(100));
  mkdirSync(folder, { recursive: true });
  return folder;
}

function desk(t: TestContext) {
  const folder = folderOf(t);
  const taken: Record<string, string>[] = [];
  const timers: (() => void)[] = [];
  const opened = operatorDesk({
    folder,
    secrets: ["KEY", "OTHER"],
    take: (secrets) => void taken.push(secrets),
    setTimer: (then) => {
      timers.push(then);
      return () => {};
    },
  });
  t.after(() => opened.close());
  /** Resolves once the socket answers. */
  const reach = async (secrets: Record<string, string>) => {
    for (;;) {
      await setImmediate();
      const reply = await resumeAttempt(folder, secrets);
      if (reply.kind === "resumed" || !/ENOENT|ECONNREFUSED/.test(reply.detail)) return reply;
    }
  };
  return { folder, taken, timers, opened, reach };
}

const never = new AbortController().signal;

test("new secrets end every wait and are written to no file", async (t) => {
  const { folder, taken, opened, reach } = desk(t);
  const waits = [opened.pause(1e9, never), opened.pause(1e9, never)];
  assert.deepEqual(await reach({ KEY: "a-new-key" }), { kind: "resumed", calls: 2 });
  await Promise.all(waits);
  assert.deepEqual(taken, [{ KEY: "a-new-key" }]);
  assert.equal((statSync(join(folder, "resume")).mode & 0o777).toString(8), "700");
  assert.equal((statSync(join(folder, "resume/sock")).mode & 0o777).toString(8), "600");
  assert.deepEqual(readdirSync(folder), ["resume"]);
  await opened.close();
  assert.deepEqual(readdirSync(folder), []);
});

test("an unknown secret and an invalid request are refused", async (t) => {
  const { taken, timers, opened, reach } = desk(t);
  const wait = opened.pause(1e9, never);
  const refused = await reach({ KEY: "a", PATH: "/evil" });
  assert.deepEqual(refused, { kind: "refused", detail: "the attempt has no secret PATH" });
  assert.deepEqual(await reach({ KEY: "" }), {
    kind: "refused",
    detail: "a secret of the request is not text",
  });
  assert.deepEqual(taken, []);
  timers[0]!(); // it waits on, until its own time
  await wait;
});

test("an attempt that is ended stops waiting", async (t) => {
  const { opened } = desk(t);
  const over = new AbortController();
  const wait = opened.pause(1e9, over.signal);
  over.abort(new Error("the attempt is over"));
  await assert.rejects(wait, /the attempt is over/);
});

test("an attempt that does not wait cannot be resumed", async (t) => {
  const reply = await resumeAttempt(folderOf(t), {});
  assert.equal(reply.kind, "refused");
});

test("waiting.json lists current waits without secrets, those for a person first", (t) => {
  const file = join(folderOf(t), "waiting.json");
  const lines: string[] = [];
  let now = Date.parse("2026-01-31T10:00:00.000Z");
  const board = waitBoard({
    ...{ file, now: () => now, say: (line) => lines.push(line) },
    words: ({ cause }) => `waits: ${cause}`,
    redact: (text) => text.replaceAll("sesame", "[key]"),
  });
  const times = { since: "2026-01-31T10:00:00.000Z", nextTry: "x", giveUpAt: "y" };
  const held = () =>
    (JSON.parse(readFileSync(file, "utf8")) as { waits: { cause: string; detail: string }[] }).waits;
  board.show("call 1", { why: "provider", cause: "unreachable", whose: "provider", detail: "d", ...times });
  assert.deepEqual(lines, [], "a short wait is not worth a line");
  board.show("call 2", {
    ...{ why: "operator", cause: "wrong-key", whose: "operator", detail: "not sesame" },
    ...{ ...times, since: "2026-01-31T10:00:01.000Z" },
  });
  assert.deepEqual(
    held().map(({ cause, detail }) => [cause, detail]),
    [
      ["wrong-key", "not [key]"],
      ["unreachable", "d"],
    ],
  );
  now += 60_000;
  board.clear("call 2");
  assert.deepEqual(
    held().map(({ cause }) => cause),
    ["unreachable"],
  );
  board.clear("call 1");
  assert.deepEqual(readdirSync(join(file, "..")), []);
  assert.deepEqual(lines, ["waits: wrong-key", "continues after 59 s of waiting (wrong-key)"]);
});
