import assert from "node:assert/strict";
import { test } from "node:test";
import { openedIn, traced } from "./read-trace.ts";

test("a trace lists the files opened for reading, the programs and the listed folders, each once and by its real name", () => {
  const trace = [
    '7 execve("/usr/bin/cat", ["cat"], 0x7ffd /* 3 vars */) = 0',
    '7 openat(AT_FDCWD</r>, "table.json", O_RDONLY|O_CLOEXEC) = 3</r/table.json>',
    '8 openat(AT_FDCWD</r>, "./table.json", O_RDONLY) = 4</r/table.json>',
    '8 openat(AT_FDCWD</r>, "out", O_WRONLY|O_CREAT, 0666) = 5</w/out>',
    '8 openat(AT_FDCWD</r>, "d", O_RDONLY|O_DIRECTORY) = 6</r/d>',
    "8 getdents64(6</r/d>, 0x55 /* 4 entries */, 32768) = 112",
    '8 openat(AT_FDCWD</r>, "two", O_RDWR) = 7</r/gr\\303\\274n \\"x\\".txt>',
    '9 openat(AT_FDCWD</r>, "gone", O_RDONLY) = 8</r/gone (deleted)>',
    '9 open("/r/odd, O_WRONLY", O_RDONLY) = 9</r/plain>',
    '9 openat(AT_FDCWD</r>, "slow", O_RDONLY <unfinished ...>',
    '8 openat(AT_FDCWD</r>, "table.json", O_RDONLY) = 4</r/table.json>',
    "9 <... openat resumed>)                  = 10</r/slow>",
    "torn openat(AT_FDC",
  ].join("\n");
  assert.deepEqual(openedIn(trace), [
    { kind: "read", path: "/usr/bin/cat" },
    { kind: "read", path: "/r/table.json" },
    { kind: "list", path: "/r/d" },
    { kind: "read", path: '/r/grün "x".txt' },
    { kind: "read", path: "/r/plain" },
    { kind: "read", path: "/r/slow" },
  ]);
});

test("a traced program is started unchanged, together with all programs that it starts", () => {
  const words = traced(["cat", "a b"], "/w/trace");
  assert.deepEqual(words.slice(-3), ["--", "cat", "a b"]);
  assert.ok(words.includes("-f") && words.includes("/w/trace"));
});
