// The read-only commands work on a state that the user may read but not write, e.g. on a read-only disk.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

/** Root may write anywhere, so the commands run as another user. */
const asOther = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

function setModes(path: string, write: boolean): void {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  chmodSync(
    path,
    write ? stats.mode | 0o700 : (stats.mode | 0o444 | ((stats.mode & 0o100) !== 0 ? 0o111 : 0)) & ~0o222,
  );
  if (stats.isDirectory()) for (const name of readdirSync(path)) setModes(join(path, name), write);
}

test("every read-only command works on a read-only state, without the files that only save time", async (t) => {
  const at = lab(t, repository);
  at.define({
    axes: { seed: [1, 2] },
    stages: {
      try: {
        each: ["seed"],
        durable: true,
        command: "echo {seed}; echo {seed} > {outputs.it}",
        gives: { it: "file" },
      },
      all: {
        collect: ["try.it"],
        command: "echo said; echo all > {outputs.it}",
        files: [at.script("declared.py", "x = 1\n")], // its digest asks a Python, which is remembered
        gives: { it: { file: "all.md" } },
      },
    },
  });
  assert.equal((await at.run("--yes")).code, 0);
  // files that only save time, and a manifest that is not stored any more
  for (const gone of ["cache/memory", "attempts/index.jsonl", "leases"])
    rmSync(join(at.root, ".mlrb", gone), { recursive: true, force: true });
  chmodSync(dirname(at.root), 0o755);
  for (const path of [dirname(repository.path), repository.path]) chmodSync(path, 0o755);
  setModes(at.root, false);
  try {
    for (const args of [
      ["plan", at.name],
      ["status", at.name],
      ["explain", "all", "--pipeline", at.name],
      ["graph", at.name],
      ["report", at.name],
      ["log", "all"],
      ["attempts", "list"],
      ["attempts", "show", "try[seed=1]"],
    ]) {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [join(repository.path, "runners/cli/src/main.ts"), ...args, "--root", at.root],
        { cwd: repository.path, encoding: "utf8", ...asOther, env: { ...process.env, HOME: "/nonexistent" } },
      );
      assert.equal(status, 0, `${args.join(" ")}: ${stdout}${stderr}`);
      assert.doesNotMatch(stderr, /EACCES|permission denied/, args.join(" "));
    }
  } finally {
    setModes(at.root, true);
  }
});
