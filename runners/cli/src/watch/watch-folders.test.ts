import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Mailbox } from "../run/mailbox.ts";
import { placesOf, WatchFolders } from "./watch-folders.ts";

/** Longer than any event takes: only a test that fails waits for it. */
const patienceMs = 20_000;

async function watching(t: TestContext, paths: string[]) {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "watch-folders-")));
  for (const folder of ["tasks/a", "pipelines", "results", "node_modules", "tasks/node_modules"])
    mkdirSync(join(path, folder), { recursive: true });
  writeFileSync(join(path, "tasks/a/task.yaml"), "");
  writeFileSync(join(path, "lock.yaml"), "");
  const mailbox = new Mailbox();
  const folders = new WatchFolders(path, { mailbox, trouble: (message) => assert.fail(message) });
  t.after(async () => {
    await folders.close();
    rmSync(path, { recursive: true });
  });
  await folders.watch(paths);
  return { mailbox, folders, at: (file: string) => join(path, file) };
}

test("an edit, a rename over a file, a new file in a new folder and a removal are each noticed", async (t) => {
  const { mailbox, at } = await watching(t, ["tasks/a/task.yaml", "lock.yaml", "missing.ts"]);
  const noticed = async (what: string, act: () => void) => {
    await mailbox.quiet({ quietMs: 200, mostMs: 2000 });
    act();
    assert.ok(await mailbox.take(patienceMs), what);
  };
  await noticed("an edit", () => writeFileSync(at("tasks/a/task.yaml"), "more"));
  await noticed("a rename", () => {
    writeFileSync(at("tasks/a/new"), "other");
    renameSync(at("tasks/a/new"), at("tasks/a/task.yaml"));
  });
  await noticed("an edit of what was renamed", () => writeFileSync(at("tasks/a/task.yaml"), "again"));
  await noticed("a new folder", () => mkdirSync(at("tasks/b/c"), { recursive: true }));
  await noticed("a file in a new folder", () => writeFileSync(at("tasks/b/c/d.py"), ""));
  await noticed("a removed folder", () => rmSync(at("tasks/b"), { recursive: true }));
  await noticed("a file by itself", () => writeFileSync(at("lock.yaml"), "more"));
  await noticed("a rename over it", () => {
    writeFileSync(at("lock.yaml.new"), "other");
    renameSync(at("lock.yaml.new"), at("lock.yaml"));
  });
  await noticed("an edit after that", () => writeFileSync(at("lock.yaml"), "again"));
  await noticed("a file that was missed", () => writeFileSync(at("missing.ts"), ""));
});

test("files of the runner, packages, and folders that are not watched are not noticed", async (t) => {
  const { mailbox, folders, at } = await watching(t, ["*.md", "tasks/a/task.yaml"]);
  for (const file of [".mlrb/x", "results/x", "node_modules/x", "tasks/node_modules/x", ".git/x"]) {
    mkdirSync(join(at(file), ".."), { recursive: true });
    writeFileSync(at(file), "");
  }
  assert.equal(await mailbox.take(500), false, "of the whole repository");
  await folders.watch(["tasks/a/task.yaml"]);
  writeFileSync(at("pipelines/x"), "");
  assert.equal(await mailbox.take(500), false, "of its tasks");
  writeFileSync(at("tasks/a/x"), "");
  assert.ok(await mailbox.take(patienceMs));
});

test("hundreds of edits and renames leave no more open files than one", async (t) => {
  if (process.platform !== "linux") return t.skip("open files are counted by /proc");
  const { mailbox, folders, at } = await watching(t, ["tasks/a/task.yaml"]);
  const open = () => readdirSync("/proc/self/fd").length;
  const edit = async (count: number) => {
    writeFileSync(at("tasks/a/new"), String(count));
    renameSync(at("tasks/a/new"), at("tasks/a/task.yaml"));
    assert.ok(await mailbox.take(patienceMs));
  };
  await edit(0);
  await mailbox.quiet({ quietMs: 200, mostMs: 2000 });
  const before = open();
  for (let count = 1; count <= 200; count++) await edit(count);
  for (let count = 0; count < 20; count++)
    await folders.watch(count % 2 ? ["tasks"] : ["tasks", "pipelines"]);
  await mailbox.quiet({ quietMs: 200, mostMs: 2000 });
  assert.equal(open(), before);
});

test("the watched folders are the top-level folders of the files that a plan reads", () => {
  assert.deepEqual(placesOf(["tasks/a/task.yaml", "tasks", "lock.yaml", "lab-1/*.py"]), [
    "lab-1",
    "lock.yaml",
    "tasks",
  ]);
  assert.deepEqual(placesOf(["tasks", "*.md"]), ["."]);
});
