// Which folders of a home folder a declared program brings inside walls.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { commandPaths, foldersInHomes, realCommands } from "./declared-programs.ts";

/** A home folder with these programs; `links` by name, with their targets. */
function home(t: TestContext, programs: string[], links: Record<string, string> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-home-")));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of [...programs, ...Object.keys(links)])
    mkdirSync(dirname(join(folder, name)), { recursive: true });
  for (const name of programs) writeFileSync(join(folder, name), "", { mode: 0o755 });
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(folder, name));
  return folder;
}

function shown(folder: string, command: string, path = ""): string[] {
  const paths = commandPaths({ MLRB_SCORER_COMMAND: command }, { path, home: folder });
  return paths.map((one) => one.replace(`${folder}/`, "~/").replace(folder, "~"));
}

test("a program in the folder bin is shown with the folder above", (t) => {
  const at = home(t, ["toolchains/v4/bin/lean"]);
  assert.deepEqual(shown(at, `${at}/toolchains/v4/bin/lean`), [
    "~/toolchains/v4/bin/lean",
    "~/toolchains/v4",
  ]);
});

test("a program behind a link is shown with the folder of the linked file, not of the link", (t) => {
  const at = home(t, ["toolchains/v4/bin/lean"], { "bin/lean": "../toolchains/v4/bin/lean" });
  assert.deepEqual(shown(at, `${at}/bin/lean`), ["~/toolchains/v4/bin/lean", "~/toolchains/v4"]);
  const inside = realCommands({ MLRB_SCORER_COMMAND: "lean --quiet", TOOL: "lean" }, `${at}/bin`);
  assert.deepEqual(inside, { MLRB_SCORER_COMMAND: `${at}/toolchains/v4/bin/lean --quiet` });
});

test("a link of another name than its file's is kept, and shown with the folder of the file", (t) => {
  const at = home(t, ["elan/bin/elan"], { "bin/lean": "../elan/bin/elan" });
  assert.deepEqual(shown(at, `${at}/bin/lean`), ["~/bin/lean", "~/elan"]);
  const command = { MLRB_SCORER_COMMAND: `'${at}/bin/lean' 'a b' it\\'s` };
  assert.deepEqual(realCommands(command, ""), { MLRB_SCORER_COMMAND: `${at}/bin/lean 'a b' 'it'\\''s'` });
});

test("a program named without a folder is looked up on the PATH", (t) => {
  const at = home(t, ["tool/bin/lean"]);
  assert.deepEqual(shown(at, "lean --quiet", `/usr/bin:${at}/tool/bin`), ["~/tool/bin/lean", "~/tool"]);
  assert.deepEqual(shown(at, "lean", "/usr/bin"), []);
});

test("the paths among a command's other words are shown too, quoted or not", (t) => {
  const at = home(t, ["a tool/bin/lean", "check/check.sh"]);
  assert.deepEqual(shown(at, `sh '${at}/check/check.sh' "${at}/a tool/bin/lean" -q`), [
    ...["~/check/check.sh", "~/check"],
    ...["~/a tool/bin/lean", "~/a tool"],
  ]);
});

for (const name of ["lean", "bin/lean", ".local/bin/lean"])
  test(`of a program at ~/${name}, only the file is shown`, (t) => {
    const at = home(t, [name]);
    assert.deepEqual(new Set(shown(at, `${at}/${name}`)), new Set([`~/${name}`]));
  });

test("a program that does not exist is left out, and variables of other names name no program", (t) => {
  const at = home(t, ["tool/bin/lean"]);
  assert.deepEqual(shown(at, `${at}/tool/bin/coq`), []);
  assert.deepEqual(commandPaths({ TOOL: `${at}/tool/bin/lean` }, { path: "", home: at }), []);
});

test("folders of the PATH in a home folder are found by their own and their real names", (t) => {
  const at = home(t, ["tool/bin/lean"], { link: "tool/bin" });
  assert.deepEqual(foldersInHomes(`/usr/bin:${at}/link:/opt/x/bin`, at), [`${at}/link`, `${at}/tool/bin`]);
});
