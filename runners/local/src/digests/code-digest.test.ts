import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { Consulted } from "../decide/consulted-files.ts";
import { CannotBundle } from "./bundle-script.ts";
import { CodeDigests } from "./code-digest.ts";

/** A lock file with alpha, which depends on deep, and beta; arguments are the integrities. */
function lockText({ alpha = "a1", deep = "d1", beta = "b1", stray = "s1" } = {}): string {
  const packages = { "alpha@1.0.0": alpha, "beta@1.0.0": beta, "deep@1.0.0": deep, "stray@1.0.0": stray };
  return [
    "lockfileVersion: '9.0'",
    "importers:",
    "  .:",
    "    dependencies:",
    ...["alpha", "beta"].flatMap((name) => [
      `      ${name}:`,
      "        specifier: 1.0.0",
      "        version: 1.0.0",
    ]),
    "packages:",
    ...Object.entries(packages).flatMap(([id, integrity]) => [
      `  ${id}:`,
      `    resolution: {integrity: ${integrity}}`,
    ]),
    "snapshots:",
    "  alpha@1.0.0:",
    "    dependencies:",
    "      deep: 1.0.0",
    ...["beta", "deep", "stray"].map((name) => `  ${name}@1.0.0: {}`),
    "",
  ].join("\n");
}

const files = {
  "package.json": '{"type": "module"}\n',
  "pnpm-lock.yaml": lockText(),
  "uses-alpha.ts": 'import alpha from "alpha";\nconsole.log(alpha);\n',
  "uses-beta.ts": 'import { beta } from "beta/sub";\nconsole.log(beta);\n',
  "through.ts": 'import "./lib/inner.ts";\n',
  "lib/inner.ts": 'import alpha from "alpha";\nconsole.log(alpha);\n',
  "plain.ts": 'import { word } from "./word.ts";\nconsole.log(word);\n',
  "word.ts": 'export const word: string = "one";\n',
};

type Repository = ReturnType<typeof repository>;

/** A repository of those files. The clock is an hour ahead, so that no file counts as just written. */
function repository(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-code-"));
  t.after(() => rmSync(root, { recursive: true }));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const memory = join(root, "memory");
  mkdirSync(memory);
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 3_600_000 });
  return { root, write, memory, run: (consulted?: Consulted) => new CodeDigests(root, memory, consulted) };
}

async function codeOf(at: Repository, script: string): Promise<Record<string, string>> {
  return (await at.run().of(script)).code;
}

/** Digests a script and saves the memory, as a run does. */
async function remember(at: Repository, script: string): Promise<Record<string, string>> {
  const codes = at.run();
  const { code } = await codes.of(script);
  codes.save();
  return code;
}

type Memory = { formatVersion: number; scripts: Record<string, { code: Record<string, string> }> };

/** Overwrites the remembered digest, so that a test detects whether the digest is used. */
function markMemory(at: Repository, script: string, change: (memory: Memory) => void = () => {}): void {
  const file = join(at.memory, "code.json");
  const memory = JSON.parse(readFileSync(file, "utf8")) as Memory;
  memory.scripts[script]!.code[script] = "remembered";
  change(memory);
  writeFileSync(file, JSON.stringify(memory));
}

test("a lock file that changes during a run counts for scripts digested later in that run", async (t) => {
  const at = repository(t);
  at.write("also-alpha.ts", files["uses-alpha.ts"]);
  const codes = at.run();
  await codes.of("uses-alpha.ts");
  at.write("pnpm-lock.yaml", lockText({ deep: "d2" }));
  const { code } = await codes.of("also-alpha.ts");
  codes.save();
  rmSync(at.memory, { recursive: true }); // otherwise the remembered digest would be used
  assert.deepEqual(code, await codeOf(at, "also-alpha.ts"));
});

test("files with the same bytes and other extensions are minified each by its own", async (t) => {
  const at = repository(t);
  for (const name of ["same.ts", "same.json"]) at.write(name, "[ 1, 2 ]\n");
  at.write(
    "both.ts",
    'import "./same.ts";\nimport all from "./same.json" with { type: "json" };\nconsole.log(all);\n',
  );
  const { files: digests } = await at.run().of("both.ts");
  assert.notEqual(digests["same.ts"], digests["same.json"]);
});

test("stages that ask for the same script at once share one bundle, and one failure", async (t) => {
  const at = repository(t);
  const codes = at.run();
  const [one, other] = await Promise.all([codes.of("plain.ts"), codes.of("plain.ts")]);
  assert.equal(one, other);
  const failed = await Promise.allSettled([codes.of("missing.ts"), codes.of("missing.ts")]);
  const reasons = failed.map((each) => each.status === "rejected" && (each.reason as Error));
  assert.ok(reasons[0] instanceof CannotBundle);
  assert.equal(reasons[0], reasons[1]);
  at.write("missing.ts", files["plain.ts"]);
  assert.ok((await codes.of("missing.ts")).code["missing.ts"]);
});

for (const [what, changed] of Object.entries({
  "an imported package": { alpha: "a2" },
  "a dependency of an imported package": { deep: "d2" },
})) {
  test(`a changed lock entry of ${what} changes the script's code`, async (t) => {
    const at = repository(t);
    const before = await remember(at, "uses-alpha.ts");
    at.write("pnpm-lock.yaml", lockText(changed));
    assert.notDeepEqual(await codeOf(at, "uses-alpha.ts"), before);
  });

  test(`a changed lock entry of ${what} keeps the code of scripts without that import`, async (t) => {
    const at = repository(t);
    const before = [await remember(at, "uses-beta.ts"), await codeOf(at, "plain.ts")];
    at.write("pnpm-lock.yaml", lockText(changed));
    assert.deepEqual([await codeOf(at, "uses-beta.ts"), await codeOf(at, "plain.ts")], before);
  });
}

test("a package imported by an imported file counts for the script", async (t) => {
  const at = repository(t);
  const before = await remember(at, "through.ts");
  at.write("pnpm-lock.yaml", lockText({ deep: "d2" }));
  assert.notDeepEqual(await codeOf(at, "through.ts"), before);
});

test("an import of a package's subpath counts as an import of the package", async (t) => {
  const at = repository(t);
  const before = await remember(at, "uses-beta.ts");
  at.write("pnpm-lock.yaml", lockText({ beta: "b2" }));
  assert.notDeepEqual(await codeOf(at, "uses-beta.ts"), before);
});

test("a lock entry that no import reaches changes no code", async (t) => {
  const at = repository(t);
  const before = await remember(at, "uses-alpha.ts");
  at.write("pnpm-lock.yaml", lockText({ stray: "s2" }));
  assert.deepEqual(await codeOf(at, "uses-alpha.ts"), before);
});

test("a script without packages needs no lock file", async (t) => {
  const at = repository(t);
  const before = await codeOf(at, "plain.ts");
  rmSync(join(at.root, "pnpm-lock.yaml"));
  assert.deepEqual(await codeOf(at, "plain.ts"), before);
});

const refusals: Record<string, [string | undefined, RegExp]> = {
  "is gone": [undefined, /^uses-alpha\.ts cannot be bundled: ENOENT/],
  "is of another format": [
    "lockfileVersion: '6.0'\n",
    /^uses-alpha\.ts cannot be bundled: .*not of format 9/,
  ],
  "lacks a package that it imports": [
    lockText().replaceAll("alpha", "other"),
    /^uses-alpha\.ts cannot be bundled: uses-alpha\.ts:1:19: alpha is imported and is in no package\.json/,
  ],
};
for (const [what, [text, message]] of Object.entries(refusals)) {
  test(`a script with packages cannot be bundled when the lock file ${what}`, async (t) => {
    const at = repository(t);
    if (text === undefined) rmSync(join(at.root, "pnpm-lock.yaml"));
    else at.write("pnpm-lock.yaml", text);
    await assert.rejects(at.run().of("uses-alpha.ts"), (error) => {
      assert.ok(error instanceof CannotBundle);
      assert.match(error.message, message);
      return true;
    });
  });
}

test("a comment, a type or white space in an imported file changes no digest", async (t) => {
  const at = repository(t);
  const { code, files } = await at.run().of("plain.ts");
  at.write("word.ts", '// a word\nexport  const word: "one" = "one";\n');
  const now = await at.run().of("plain.ts");
  assert.deepEqual({ code: now.code, files: now.files }, { code, files });
});

test("a changed line of an imported file changes the script's code and the digest of that file only", async (t) => {
  const at = repository(t);
  const before = await at.run().of("plain.ts");
  at.write("word.ts", 'export const word: string = "two";\n');
  const now = await at.run().of("plain.ts");
  assert.notEqual(now.code["plain.ts"], before.code["plain.ts"]);
  assert.notEqual(now.files["word.ts"], before.files["word.ts"]);
  assert.equal(now.files["plain.ts"], before.files["plain.ts"]);
});

test("a script's code holds the version of Node", async (t) => {
  assert.equal((await codeOf(repository(t), "plain.ts")).node, process.version);
});

test("the next run does not bundle an untouched script again", async (t) => {
  const at = repository(t);
  await remember(at, "plain.ts");
  markMemory(at, "plain.ts");
  assert.equal((await codeOf(at, "plain.ts"))["plain.ts"], "remembered");
});

test("a script whose files were touched without a change is not bundled again", async (t) => {
  const at = repository(t);
  await remember(at, "plain.ts");
  markMemory(at, "plain.ts");
  utimesSync(join(at.root, "word.ts"), 1, 1);
  assert.equal((await codeOf(at, "plain.ts"))["plain.ts"], "remembered");
});

test("files that were touched without a change are read only once", async (t) => {
  const at = repository(t);
  await remember(at, "plain.ts");
  utimesSync(join(at.root, "word.ts"), 1, 1);
  await remember(at, "plain.ts");
  markMemory(at, "plain.ts", (memory) => {
    Object.assign(memory.scripts["plain.ts"]!, { raws: {} });
  });
  assert.equal((await codeOf(at, "plain.ts"))["plain.ts"], "remembered");
});

test("the digest of a script that is edited while it is bundled is not reused by later runs", async (t) => {
  const at = repository(t);
  t.mock.timers.setTime(Date.now() - 7_200_000); // all files are written later than this
  await remember(at, "plain.ts");
  markMemory(at, "plain.ts");
  t.mock.timers.setTime(Date.now() + 7_200_000);
  assert.notEqual((await codeOf(at, "plain.ts"))["plain.ts"], "remembered");
});

test("the stat of a file written half a second ago is not trusted later", async (t) => {
  const at = repository(t);
  t.mock.timers.setTime(statSync(join(at.root, "word.ts")).ctimeMs + 500);
  await remember(at, "plain.ts");
  markMemory(at, "plain.ts", ({ scripts }) => {
    Object.assign(scripts["plain.ts"]!, { raws: {} }); // nor may the unchanged bytes match
  });
  t.mock.timers.setTime(Date.now() + 3_600_000);
  assert.notEqual((await codeOf(at, "plain.ts"))["plain.ts"], "remembered");
});

const forgotten: Record<string, (at: Repository) => void> = {
  "by another version of Node": (at) =>
    markMemory(at, "plain.ts", ({ scripts }) => {
      scripts["plain.ts"]!.code.node = "v0.0.0";
    }),
  "in another format": (at) =>
    markMemory(at, "plain.ts", (memory) => {
      memory.formatVersion = 2;
    }),
  "and was torn": (at) => {
    const file = join(at.memory, "code.json");
    writeFileSync(file, readFileSync(file, "utf8").slice(0, -2));
  },
};
for (const [how, spoil] of Object.entries(forgotten)) {
  test(`a digest remembered ${how} is computed again`, async (t) => {
    const at = repository(t);
    const before = await remember(at, "plain.ts");
    spoil(at);
    assert.deepEqual(await codeOf(at, "plain.ts"), before);
  });
}

test("a missing memory folder is no error", async (t) => {
  const at = repository(t);
  rmSync(at.memory, { recursive: true });
  assert.equal(Object.keys(await remember(at, "plain.ts")).length, 2);
});

test("a run keeps its first digest of a script, even if the script is edited", async (t) => {
  const at = repository(t);
  const codes = at.run();
  const before = await codes.of("plain.ts");
  at.write("word.ts", 'export const word: string = "two";\n');
  assert.deepEqual(await codes.of("plain.ts"), before);
});

test("an untouched script counts as unchanged at the end of the run", async (t) => {
  const codes = repository(t).run();
  await codes.of("uses-alpha.ts");
  assert.equal(await codes.stillIs("uses-alpha.ts"), true);
});

test("a script that was never digested counts as unchanged", async (t) => {
  const at = repository(t);
  const codes = at.run();
  await codes.of("plain.ts");
  at.write("uses-beta.ts", "syntax error (\n");
  assert.equal(await codes.stillIs("uses-beta.ts"), true);
});

const edits: Record<string, [string, string, boolean]> = {
  "gets a comment": ["lib/inner.ts", `// a comment\n${files["lib/inner.ts"]}`, true],
  "gets another line": ["lib/inner.ts", `${files["lib/inner.ts"]}console.log(1);\n`, false],
  "cannot be parsed any more": ["lib/inner.ts", "syntax error (\n", false],
  "gets another version of its package": ["pnpm-lock.yaml", lockText({ deep: "d2" }), false],
};
for (const [what, [path, text, still]] of Object.entries(edits)) {
  test(`a script that ${what} while it runs is ${still ? "still the same" : "no longer the same"}`, async (t) => {
    const at = repository(t);
    const codes = at.run();
    await codes.of("through.ts");
    at.write(path, text);
    assert.equal(await codes.stillIs("through.ts"), still);
  });
}

test("all sources of a remembered script are watched, the lock file included", async (t) => {
  const at = repository(t);
  await remember(at, "through.ts");
  const consulted = new Consulted(at.root);
  await at.run(consulted).of("through.ts");
  assert.deepEqual([...consulted.files.keys()].sort(), ["lib/inner.ts", "pnpm-lock.yaml", "through.ts"]);
});

test("the lock file is not watched for a script without packages", async (t) => {
  const at = repository(t);
  const consulted = new Consulted(at.root);
  await at.run(consulted).of("plain.ts");
  assert.deepEqual([...consulted.files.keys()].sort(), ["plain.ts", "word.ts"]);
});

test("when an import is missing, the importing file and the missing one are watched", async (t) => {
  const at = repository(t);
  at.write("lib/inner.ts", 'import "../missing.ts";\n');
  const consulted = new Consulted(at.root);
  await assert.rejects(at.run(consulted).of("through.ts"), CannotBundle);
  assert.deepEqual(Object.fromEntries(consulted.files)["missing.ts"], "missing");
  assert.ok(consulted.files.has("lib/inner.ts"));
});
