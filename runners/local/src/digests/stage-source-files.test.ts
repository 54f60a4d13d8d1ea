import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import type { Bound } from "../decide/bind-inputs.ts";
import { watchFolders } from "../stage/folder-watch.ts";
import type { Workspace } from "../store/workspace.ts";
import { CodeDigests } from "./code-digest.ts";
import { FileDigests } from "./file-digest-memory.ts";
import { changedHandedOver, stageSources, watchSources } from "./stage-source-files.ts";

/** A repository with a script, its import and a declared file, and the script's stage bound to them. */
async function begun(t: TestContext) {
  const repository = mkdtempSync(join(tmpdir(), "mlrb-sources-"));
  t.after(() => rmSync(repository, { recursive: true }));
  mkdirSync(join(repository, "memory"));
  const write = (file: string, text: string) => writeFileSync(join(repository, file), text);
  write(
    "script.ts",
    'import { word } from "./inner.ts";\nimport words from "./words.json" with { type: "json" };\nconsole.log(word, words);\n',
  );
  write("inner.ts", 'export const word = "one";\n');
  write("words.json", "{}\n");
  write("declared.txt", "one\n");
  const codes = new CodeDigests(repository, join(repository, "memory"));
  const digests = new FileDigests(repository, join(repository, "memory"));
  mkdirSync(join(repository, "data", "empty"), { recursive: true });
  write("data/one.txt", "one\n");
  symlinkSync("data/one.txt", join(repository, "link.txt"));
  const files = ["declared.txt", "link.txt", "*.csv", "data/**"];
  const action = { run: { kind: "script", file: "script.ts" }, files };
  const instance = { action, stage: { name: "say" } } as unknown as Instance;
  const { code, files: codeFiles } = await codes.of("script.ts");
  const bound = { codeFiles, parts: { code, files: digests.ofDeclared(files) } } as unknown as Bound;
  const watch = await watchSources(instance, bound, { repository, codes, digests } as unknown as Workspace);
  return { repository, write, bound, watch };
}

/** Writes other bytes and then the original bytes, in place, with the same size and time. */
function editAndUndo(path: string): void {
  const before = readFileSync(path);
  const { ino, size, mtime, atime } = statSync(path);
  const over = (bytes: Uint8Array) => {
    const file = openSync(path, "r+");
    writeSync(file, bytes, 0, bytes.length, 0);
    closeSync(file);
  };
  over(Buffer.alloc(size, "x"));
  over(before);
  utimesSync(path, atime, mtime);
  const now = statSync(path);
  assert.deepEqual([now.ino, now.size, readFileSync(path)], [ino, size, before]);
}

test("the sources of a script stage are its script, all its imports and its declared files", async (t) => {
  const { bound } = await begun(t);
  assert.deepEqual(stageSources(bound), [
    "data/one.txt",
    "declared.txt",
    "inner.ts",
    "link.txt",
    "script.ts",
    "words.json",
  ]);
});

test("a stage whose files are unchanged reports no change", async (t) => {
  const { watch, write } = await begun(t);
  write("unrelated.txt", "other\n");
  assert.equal(await watch(), undefined);
});

for (const file of ["script.ts", "inner.ts", "words.json", "declared.txt"]) {
  test(`an edit of ${file} that is undone while the stage runs is reported`, async (t) => {
    const { repository, watch } = await begun(t);
    editAndUndo(join(repository, file));
    assert.deepEqual(await watch(), { kind: "undone", path: file });
  });

  test(`an edit of ${file} that is undone without setting its time back is reported`, async (t) => {
    const { repository, watch, write } = await begun(t);
    const text = readFileSync(join(repository, file), "utf8");
    write(file, "other");
    write(file, text);
    assert.deepEqual(await watch(), { kind: "undone", path: file });
  });

  test(`hard links, another mode, owner or time of ${file} are no change of it`, async (t) => {
    const { repository, watch } = await begun(t);
    const path = join(repository, file);
    const { mode, ctimeMs } = statSync(path);
    execFileSync("cp", ["-al", repository, `${repository}.copy`]);
    rmSync(`${repository}.copy`, { recursive: true });
    linkSync(path, `${path}.linked`);
    chmodSync(path, 0o600);
    execFileSync("chmod", ["-R", "go-w", join(repository, "data")]);
    execFileSync("touch", [join(repository, "data"), join(repository, "data/one.txt")]);
    assert.equal(await watch(), undefined, "another mode");
    chmodSync(path, mode);
    chownSync(path, statSync(path).uid, statSync(path).gid);
    assert.equal(await watch(), undefined, "the mode from before");
    execFileSync("touch", [path]);
    assert.notEqual(statSync(path).ctimeMs, ctimeMs);
    assert.equal(await watch(), undefined, "another time");
  });

  test(`an edit of ${file} by another name of it, undone with its time set back, is reported`, async (t) => {
    const { repository, watch } = await begun(t);
    const linked = join(repository, "..", `${basename(repository)}.linked`);
    linkSync(join(repository, file), linked);
    t.after(() => rmSync(linked));
    editAndUndo(linked);
    assert.deepEqual(await watch(), { kind: "undone", path: file });
  });

  test(`${file}, removed and linked again by another name, is reported`, async (t) => {
    const { repository, watch } = await begun(t);
    const path = join(repository, file);
    linkSync(path, `${path}.kept`);
    rmSync(path);
    linkSync(`${path}.kept`, path);
    assert.deepEqual(await watch(), { kind: "undone", path: file });
  });

  test(`another ${file} that replaces the original and is swapped back is reported`, async (t) => {
    const { repository, watch } = await begun(t);
    const path = join(repository, file);
    renameSync(path, `${path}.kept`);
    writeFileSync(path, "other");
    renameSync(`${path}.kept`, path);
    assert.deepEqual(await watch(), { kind: "undone", path: file });
  });
}

for (const file of ["new.csv", "data/new.txt", "data/empty/new.txt", "data/.hidden", "data/data"]) {
  test(`${file}, added to the declared files and removed while the stage runs, is reported`, async (t) => {
    const { repository, watch, write } = await begun(t);
    write(file, "1\n");
    rmSync(join(repository, file));
    assert.deepEqual(await watch(), { kind: "came-or-went", path: file });
  });
}

test("a folder that is moved away and back, and a link that points elsewhere for a while, are reported", async (t) => {
  const moved = await begun(t);
  const data = join(moved.repository, "data");
  renameSync(data, `${data}.kept`);
  mkdirSync(data);
  rmdirSync(data);
  renameSync(`${data}.kept`, data);
  assert.deepEqual(await moved.watch(), { kind: "came-or-went", path: "data/" });
  const linked = await begun(t);
  const link = join(linked.repository, "link.txt");
  rmSync(link);
  symlinkSync("declared.txt", link);
  rmSync(link);
  symlinkSync("data/one.txt", link);
  assert.deepEqual(await linked.watch(), { kind: "undone", path: "link.txt" });
});

test("files that editors, interpreters and tools leave or remove in a declared folder invalidate no result", async (t) => {
  const { repository, watch, write } = await begun(t);
  const inData = (name: string) => join(repository, "data", name);
  for (const name of [".one.txt.swp", ".one.txt.swx", "one.txt~", "#one.txt#"]) {
    write(`data/${name}`, "editing\n");
    if (name !== ".one.txt.swx") rmSync(inData(name)); // the editor of this file is still open
  }
  symlinkSync("user@host.123", inData(".#one.txt"));
  for (const name of ["__pycache__", ".pytest_cache", ".ipynb_checkpoints", "empty/__pycache__"]) {
    mkdirSync(inData(name));
    write(`data/${name}/x.pyc`, "1");
  }
  rmSync(inData("empty/__pycache__"), { recursive: true });
  write("other.txt", "no pattern names it\n");
  rmSync(join(repository, "other.txt"));
  assert.equal(await watch(), undefined);
});

test("without a watch on names, a folder's own stat shows that an entry appeared and disappeared", async (t) => {
  const { repository, write } = await begun(t);
  const unable = async () => async () => undefined; // no watch left
  const watch = await watchFolders(repository, ["data/****"], unable);
  assert.equal(await watch(), undefined);
  write("data/empty/new.txt", "1\n");
  rmSync(join(repository, "data/empty/new.txt"));
  assert.equal(await watch(), "data/empty/");
});

test("a file that a pattern newly matches, or no longer matches, is reported", async (t) => {
  const { watch, write } = await begun(t);
  write("new.csv", "1,2\n");
  assert.deepEqual(await watch(), { kind: "changed", path: "new.csv" });
});

test("a change of an agent's files while its attempt waited is reported, including a name, a link or a bit", (t) => {
  const repository = mkdtempSync(join(tmpdir(), "mlrb-sources-"));
  t.after(() => rmSync(repository, { recursive: true }));
  const at = (file: string) => join(repository, "program", file);
  mkdirSync(at("inner"), { recursive: true });
  writeFileSync(at("a.py"), "1");
  writeFileSync(at("inner/.env"), "1");
  symlinkSync("a.py", at("link"));
  const digests = new FileDigests(repository, join(repository, "memory"));
  const instance = {
    action: { files: ["program/**"] },
    stage: {},
    execution: { executor: "local" },
  } as unknown as Instance;
  const bound = { parts: { files: digests.ofHandedOver(["program/**"]) } } as unknown as Bound;
  const changed = () => changedHandedOver(instance, bound, { digests });
  assert.equal(changed(), undefined);
  const edits: [() => void, () => void, string][] = [
    [() => writeFileSync(at("a.py"), "2"), () => writeFileSync(at("a.py"), "1"), "program/a.py"],
    [() => chmodSync(at("a.py"), 0o755), () => chmodSync(at("a.py"), 0o644), "program/a.py"],
    [() => rmSync(at("inner/.env")), () => writeFileSync(at("inner/.env"), "1"), "program/inner/.env"],
    [() => writeFileSync(at("new"), ""), () => rmSync(at("new")), "program/new"],
    [() => rmSync(at("link")), () => symlinkSync("a.py", at("link")), "program/link"],
  ];
  for (const [edit, undo, path] of edits) {
    edit();
    assert.equal(changed(), path);
    undo();
    assert.equal(changed(), undefined, "what an agent would be given is what counts");
  }
});
