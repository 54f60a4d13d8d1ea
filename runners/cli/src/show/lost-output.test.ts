import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { lostWords } from "./lost-output.ts";

/** The program with a full disk below one of its outputs. */
function withFull(full: "stdout" | "stderr", args: string[]) {
  const file = openSync("/dev/full", "w");
  const program = [join(import.meta.dirname, "../main.ts"), ...args];
  const stdio = full === "stdout" ? (["ignore", file, "pipe"] as const) : (["ignore", "pipe", file] as const);
  const { status, stdout, stderr } = spawnSync(process.execPath, program, {
    stdio: [...stdio],
    encoding: "utf8",
  });
  closeSync(file);
  return { status, said: stdout ?? stderr };
}

test("a program with a full stdout ends normally and reports it on stderr", () => {
  const { status, said } = withFull("stdout", ["list", "agents"]);
  assert.equal(
    said,
    "stdout was cut off: no space left at its destination; the program continued without it\n",
  );
  assert.equal(status, 0);
});

test("a program with a full stderr keeps its exit status and its stdout", () => {
  const { status, said } = withFull("stderr", ["run", "no-such-pipeline", "--json"]);
  assert.match(said, /"unknown-pipeline"[\s\S]*stderr was cut off/);
  assert.equal(status, 2);
});

test("a closed pipe is not reported, other errors are, with the system's message", () => {
  assert.equal(lostWords("stdout", Object.assign(new Error("write EPIPE"), { code: "EPIPE" })), undefined);
  assert.match(
    lostWords("stderr", Object.assign(new Error("i/o error, write"), { code: "EIO" }))!,
    /i\/o error/,
  );
});
