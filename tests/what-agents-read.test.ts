// The key of an attempt covers what its agent can read. The code that fills a sandbox copies the agent's folder,
// and the code that makes keys digests it; both must see the same differences.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { folderDigest } from "@mlrb/agents/folders/folder-digest";
import { putInside } from "@mlrb/agents/folders/put-inside";
import { FileDigests } from "@mlrb/local/digests/file-digest-memory";
import fc from "fast-check";

const above = mkdtempSync(join(tmpdir(), "mlrb-agents-read-"));
after(() => rmSync(above, { recursive: true, force: true }));

type Entry =
  | { kind: "file"; text: string; mode: number }
  | { kind: "link"; target: string }
  | { kind: "folder" };
type Tree = Record<string, Entry>;

const names = [".env", "node_modules", "a.py", "a.py~", "b", "run.sh", "__pycache__", "x.pyc", ".DS_Store"];
const outside = "../outside.txt";
const file = fc.record({
  kind: fc.constant("file" as const),
  text: fc.constantFrom("", "x", '"""Doc."""\nx = 1\n', '"""Other."""\nx = 1\n', "x = 1  # remark\n"),
  mode: fc.constantFrom(0o644, 0o600, 0o755, 0o654, 0o700),
});
const entry: fc.Arbitrary<Entry> = fc.oneof(
  { weight: 4, arbitrary: file },
  fc.record({ kind: fc.constant("link" as const), target: fc.constantFrom(...names, outside) }),
  fc.record({ kind: fc.constant("folder" as const) }),
);
const name = fc.constantFrom(...names);
const path = fc.oneof(
  { weight: 3, arbitrary: name },
  fc.tuple(fc.constantFrom("node_modules", "b", "__pycache__", ".git"), name).map((parts) => parts.join("/")),
);
const tree: fc.Arbitrary<Tree> = fc.dictionary(path, entry, { maxKeys: 7 });

const edit = fc.oneof(
  fc.record({ kind: fc.constant("put" as const), path, entry }),
  fc.record({ kind: fc.constant("remove" as const), path }),
  fc.record({ kind: fc.constant("mode" as const), path, mode: fc.constantFrom(0o600, 0o644, 0o755, 0o710) }),
  fc.record({ kind: fc.constant("touch" as const), path }),
  fc.record({ kind: fc.constant("outside" as const), text: fc.constantFrom("out", "further out") }),
  fc.record({ kind: fc.constant("rename" as const), path, to: path }),
);

const exists = (at: string) => {
  try {
    return lstatSync(at, { throwIfNoEntry: false });
  } catch {
    return undefined; // below a file
  }
};

function write(at: string, one: Entry): void {
  if (exists(dirname(at)) && !lstatSync(dirname(at)).isDirectory()) return;
  rmSync(at, { recursive: true, force: true });
  mkdirSync(dirname(at), { recursive: true });
  if (one.kind === "folder") mkdirSync(at);
  else if (one.kind === "link") symlinkSync(one.target, at);
  else {
    writeFileSync(at, one.text);
    chmodSync(at, one.mode);
  }
}

type Edit = typeof edit extends fc.Arbitrary<infer One> ? One : never;

function apply(repository: string, one: Edit): void {
  if (one.kind === "outside") {
    writeFileSync(join(repository, "outside.txt"), one.text);
    return;
  }
  const at = join(repository, "program", one.path);
  if (one.kind === "put") {
    write(at, one.entry);
    return;
  }
  const stats = exists(at);
  if (!stats) return;
  if (one.kind === "remove") rmSync(at, { recursive: true });
  if (one.kind === "mode" && stats.isFile()) chmodSync(at, one.mode);
  if (one.kind === "touch" && stats.isFile()) utimesSync(at, 1, 1);
  if (one.kind === "rename") {
    const to = join(repository, "program", one.to);
    if (!exists(to) && exists(dirname(to))?.isDirectory() && !to.startsWith(`${at}/`)) renameSync(at, to);
  }
}

/** Everything that a program in the sandbox could learn about its folder; or why it cannot be given at all. */
async function seenByAgent(repository: string): Promise<string> {
  const sandbox = mkdtempSync(join(repository, "sandbox-"));
  try {
    await putInside(sandbox, join(repository, "program"), "program", {});
    const lines: string[] = [];
    const look = (at: string) => {
      for (const one of readdirSync(join(sandbox, at)).sort()) {
        const inside = `${at}/${one}`;
        const stats = lstatSync(join(sandbox, inside));
        const mode = (stats.mode & 0o777).toString(8);
        if (stats.isSymbolicLink()) lines.push(`${inside} -> ${readlinkSync(join(sandbox, inside))}`);
        else if (stats.isFile())
          lines.push(`${inside} ${mode} ${JSON.stringify(readFileSync(join(sandbox, inside), "utf8"))}`);
        else {
          lines.push(`${inside}/ ${mode}`);
          look(inside);
        }
      }
    };
    look("program");
    return lines.join("\n");
  } catch (error) {
    return `refused: ${(error as Error).message.replace(repository, "")}`;
  } finally {
    rmSync(sandbox, { recursive: true, force: true });
  }
}

function keyed(repository: string): string {
  try {
    const digests = new FileDigests(repository, join(repository, "memory"));
    return JSON.stringify(digests.ofHandedOver(["program/**"]));
  } catch (error) {
    return `refused: ${(error as Error).message.replace(repository, "")}`;
  }
}

async function trajectoryDigest(repository: string): Promise<string> {
  return await folderDigest(join(repository, "program")).catch((error: Error) => error.message);
}

test("a key changes if and only if something that an agent can read in its folder changes", async () => {
  await fc.assert(
    fc.asyncProperty(tree, fc.array(edit, { minLength: 1, maxLength: 3 }), async (entries, edits) => {
      const repository = mkdtempSync(join(above, "repository-"));
      mkdirSync(join(repository, "program"));
      writeFileSync(join(repository, "outside.txt"), "out");
      for (const [at, one] of Object.entries(entries)) write(join(repository, "program", at), one);
      const look = async () => ({
        seen: await seenByAgent(repository),
        key: keyed(repository),
        digest: await trajectoryDigest(repository),
      });
      const before = await look();
      for (const one of edits) apply(repository, one);
      const now = await look();
      const same = before.seen === now.seen;
      const difference = `${before.seen}\n---\n${now.seen}`;
      assert.equal(before.key === now.key, same, `key: ${difference}`);
      assert.equal(before.digest === now.digest, same, `digest: ${difference}`);
      rmSync(repository, { recursive: true });
    }),
    { numRuns: 150 },
  );
});

test("a link that leaves the folder and returns, or leads into a skipped folder, is given as its file, because a copy may have another name", async () => {
  for (const target of [
    "../program/word.txt",
    "../program/../program/word.txt",
    "up/../program/word.txt",
    "__pycache__/word",
  ]) {
    const repository = mkdtempSync(join(above, "repository-"));
    mkdirSync(join(repository, "program/__pycache__"), { recursive: true });
    for (const name of ["word.txt", "__pycache__/word"])
      writeFileSync(join(repository, "program", name), name);
    symlinkSync(".", join(repository, "program/up"));
    symlinkSync(target, join(repository, "program/link"));
    assert.match(
      await seenByAgent(repository),
      /^program\/link 644 "(word\.txt|__pycache__\/word)"$/m,
      target,
    );
    const before = keyed(repository);
    for (const name of ["word.txt", "__pycache__/word"])
      writeFileSync(join(repository, "program", name), "other words");
    assert.notEqual(keyed(repository), before, target);
  }
});

test("a link out of the folder is given as its target file; one to a folder or to nothing, a pipe and an odd name are refused", async () => {
  const repository = mkdtempSync(join(above, "repository-"));
  mkdirSync(join(repository, "program"));
  writeFileSync(join(repository, "outside.txt"), "out");
  symlinkSync(outside, join(repository, "program/word.txt"));
  assert.match(await seenByAgent(repository), /^program\/word\.txt 644 "out"$/);
  const before = keyed(repository);
  writeFileSync(join(repository, "outside.txt"), "further out");
  assert.notEqual(keyed(repository), before);
  for (const [target, why] of [
    [
      "..",
      /program\/bad cannot be given to an agent: it is a link out of the folder, to \.\.; only a link to a file/,
    ],
    ["nowhere", /program\/bad cannot be given to an agent: it is a link to nowhere, which leads nowhere/],
  ] as const) {
    symlinkSync(target, join(repository, "program/bad"));
    assert.match(keyed(repository), why);
    assert.match(await seenByAgent(repository), why);
    rmSync(join(repository, "program/bad"));
  }
  execFileSync("mkfifo", [join(repository, "program/pipe")]);
  assert.match(
    keyed(repository),
    /program\/pipe cannot be given to an agent: it is neither a file, a folder nor a link/,
  );
  rmSync(join(repository, "program/pipe"));
  const odd = Buffer.concat([Buffer.from(join(repository, "program/")), Buffer.from([0xff])]);
  writeFileSync(odd, "");
  assert.match(keyed(repository), /cannot be given to an agent: its name is not UTF-8; rename it/);
});
