// ./mlrb: starts the program from anywhere, installs once, and names itself in hints as it was typed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const place = mkdtempSync(join(tmpdir(), "launcher-"));
after(() => {
  repository.remove();
  rmSync(place, { recursive: true });
});

/** Programs of the PATH; a text is a shell script. */
function bin(programs: Record<string, string>): string {
  const folder = mkdtempSync(join(place, "bin-"));
  for (const [name, text] of Object.entries(programs))
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return folder;
}

function type(program: string, args: string[], { path = "", cwd = repository.path } = {}) {
  const env = { PATH: `${path === "" ? "" : `${path}:`}${process.env.PATH}`, HOME: place };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: "utf8" });
  return { status, stdout, stderr };
}

test("from any folder and through a link the launcher is `pnpm pipeline`, and hints name what was typed", () => {
  const listed = type("./mlrb", ["list"]);
  assert.equal(listed.status, 0, listed.stderr);
  assert.match(listed.stdout, /full-benchmark/);
  const path = join(repository.path, "mlrb");
  assert.deepEqual(type(path, ["list"], { cwd: "/" }), listed);
  const linked = join(place, "linked");
  mkdirSync(linked);
  symlinkSync(path, join(linked, "mlrb"));
  const wrong = (program: string, more = {}) => type(program, ["run", "hallo"], more).stderr;
  assert.match(wrong("./mlrb"), /`\.\/mlrb list pipelines`/);
  assert.match(wrong(path, { cwd: "/" }), new RegExp(`\`${path} list pipelines\``));
  assert.match(wrong("mlrb", { path: linked, cwd: "/" }), /`mlrb list pipelines`/);
  assert.match(type("./mlrb", ["run", "--help"]).stdout, /^ +\.\/mlrb run hello/m);
});

test("a bare checkout is installed once, without the tools of its developers, and again after its lock changed", () => {
  const modules = join(repository.path, "node_modules");
  const calls = join(place, "calls");
  // what pnpm leaves, without the registry
  const path = bin({
    node: "echo v18.0.0",
    npx: `echo "$@" >> '${calls}'; cp -a '${modules}-kept' '${modules}-new'; cp -a '${modules}-new/.' '${modules}'; rm -r '${modules}-new'`,
  });
  spawnSync("mv", [modules, `${modules}-kept`]);
  writeFileSync(join(`${modules}-kept`, ".modules.yaml"), "");
  const first = type("./mlrb", ["list"], { path });
  assert.equal(first.status, 0, first.stderr);
  assert.equal(first.stderr, "mlrb: installing its packages, once\n");
  assert.equal(type("./mlrb", ["list"], { path }).stderr, "");
  repository.write("pnpm-lock.yaml", `${repository.read("pnpm-lock.yaml")}\n`);
  assert.match(type("./mlrb", ["list"], { path }).stderr, /installing/);
  const asked = `-y pnpm@10.34.9 --dir ${repository.path} install --frozen-lockfile --filter !@mlrb/tests\n`;
  assert.equal(readFileSync(calls, "utf8"), asked.repeat(2));
});

test("a Node that is too old, none, and a registry that fails are a sentence each", () => {
  rmSync(join(repository.path, "node_modules"), { recursive: true });
  const said = (programs: Record<string, string>) => {
    const { status, stdout, stderr } = type("./mlrb", ["list"], { path: bin(programs) });
    assert.deepEqual([status, stdout], [2, ""]);
    return stderr;
  };
  const old = said({ node: "echo v16.20.2", npx: "exit 1" });
  assert.equal(old, "mlrb: Node >= 18 is needed (https://nodejs.org); `node --version` says v16.20.2\n");
  assert.match(said({ node: "exit 127", npx: "exit 1" }), /`node --version` says none\n$/);
  const failed = said({ node: "echo v20.1.0", npx: "echo ECONNREFUSED; exit 1" });
  assert.match(
    failed,
    /^mlrb: installing its packages, once\nmlrb: the packages cannot be installed; .*ECONNREFUSED/,
  );
});

test("the program itself says which Node it needs", () => {
  const program = readFileSync(join(repository.path, "runners/cli/bin/pipeline.js"), "utf8");
  assert.doesNotMatch(
    program,
    /import \{[^}]*\} from "node:module"/,
    "an old Node would stop at a name that it lacks",
  );
});
