// Scripts may only read, write, start and reach what they declare. The refusal names the line of YAML that would
// allow it. A guard against mistakes: see docs/reuse.md.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { testPython } from "../scorers/testing/submissions.ts";
import { defineAttempts } from "./support/attempts/attempt-stages.ts";
import { shareEnvironments } from "./support/environments.ts";
import { type Lab, lab, lineOf, outcomes } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const lock = "pipelines/environments/tools.lock";

const start = `import fs from "node:fs";
import { stage } from "@mlrb/kit/stage";
const { outputs } = stage();
const out = (text: string) => fs.writeFileSync(outputs.text!, text);
`;

/** The causes of the failed stages, by name. */
async function causes(at: Lab): Promise<Record<string, string>> {
  const said = await at.run();
  const lines = said.lines.filter(({ event }) => event === "stage");
  return Object.fromEntries(lines.map(({ name, cause, outcome }) => [name, cause ?? outcome]));
}

/** What a stage was refused, as its log says. */
async function refusalsOf(at: Lab, stage: string): Promise<string[]> {
  const { stdout } = await at.pipeline(["log", stage, "--root", at.root]);
  return [...stdout.matchAll(/undeclared: stage "\w+" (.*?), which/g)].map(([, what]) => what!);
}

/** A stage for each script, in one run. */
function defineEach(
  at: Lab,
  scripts: Record<string, { text: string; stage?: Record<string, unknown> }>,
): void {
  const stages = Object.entries(scripts).map(([name, { text, stage }]) => {
    const python = text.startsWith("import ") && text.includes("\nfrom mlrb_kit");
    const script = at.script(`${name}.${python ? "py" : "ts"}`, text);
    const run = python ? { python: script, environment: lock } : { script };
    return [name, { ...run, gives: { text: { file: name } }, ...stage }];
  });
  at.define({ stages: Object.fromEntries(stages) });
}

/** As libraries search for optional files: up the tree, in HOME, with each function of Node, and continue without. */
function probing(folder: string): string {
  return `${start}import assert from "node:assert/strict";
import { access, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { promisify } from "node:util";
const gone = { code: "ENOENT" };
for (let at = import.meta.dirname; ; at = dirname(at)) {
  const config = join(at, ".tool-of-nobody.json");
  for (const ask of [fs.readFileSync, fs.statSync, fs.lstatSync, fs.accessSync, fs.openSync, fs.readdirSync, fs.realpathSync])
    assert.throws(() => (ask as (path: string) => unknown)(config), { ...gone, path: config });
  for (const ask of [readFile, stat, access, promisify(fs.readFile), promisify(fs.stat), fs.promises.open])
    await assert.rejects((ask as (path: string) => Promise<unknown>)(config), gone);
  await assert.rejects(fs.createReadStream(config).toArray(), gone);
  assert.equal(fs.statSync(config, { throwIfNoEntry: false }), undefined);
  assert.equal(fs.existsSync(config), false);
  assert.throws(() => process.loadEnvFile(join(at, ".env-of-nobody")), gone);
  assert.throws(() => createRequire(config).resolve("./" + "tool"), { code: "MODULE_NOT_FOUND" });
  if (at === dirname(at)) break;
}
assert.equal(JSON.parse(fs.readFileSync("package.json", "utf8")).type, "module");
assert.equal(fs.realpathSync("."), process.cwd());
assert.equal(fs.existsSync("${folder}/more"), true);
fs.accessSync("${folder}/more");
await fs.promises.writeFile(join(process.env.HOME!, "x"), "x", { flush: true });
out("x");
`;
}

test("a TypeScript stage that reads, lists, writes, starts or reaches something undeclared fails with the line to write", async (t) => {
  const at = lab(t, repository);
  at.script("table.json", '{"rows": [1]}\n');
  at.script("more/one.json", "1\n");
  at.script("more.txt", "x");
  for (const index of [1, 2]) at.script(`q${index}.db`, "");
  const table = `${at.name}/table.json`;
  defineEach(at, {
    reads: { text: `${start}out(fs.readFileSync("${table}", "utf8"));\n` },
    later: {
      text: `${start}out((await fs.promises.readFile("${join(repository.path, table)}", "utf8")));\n`,
    },
    swallows: {
      text: `${start}let text = "nothing";\ntry { text = fs.readFileSync("${table}", "utf8"); } catch {}\nout(text);\n`,
    },
    adds: { text: `${start}out(fs.readFileSync("${table}", "utf8"));\n`, stage: { files: ["README.md"] } },
    lists: { text: `${start}out(fs.readdirSync("${at.name}/more").join());\n` },
    outside: { text: `${start}out(fs.readFileSync("${at.outside}/word", "utf8"));\n` },
    writes: { text: `${start}fs.writeFileSync("${at.name}/left.txt", "x");\nout("x");\n` },
    starts: {
      text: `${start}import { execFileSync } from "node:child_process";\nout(execFileSync("echo", ["x"], { encoding: "utf8" }));\n`,
    },
    reaches: {
      text: `${start}out(await (await fetch("http://127.0.0.1:8/")).text());\n`,
      stage: { network: "none" },
    },
    works: {
      text: `${start}import { Worker } from "node:worker_threads";
const worker = new Worker(\`require("node:worker_threads").parentPort.postMessage(require("fs").readFileSync("${table}", "utf8"))\`, { eval: true });
worker.on("message", out);\n`,
    },
    looks: { text: `${start}out(String(fs.existsSync("${at.name}/optional.json")));\n` },
    finds: { text: `${start}out(String(fs.existsSync("${table}")));\n` },
    declared: {
      text: `${start}fs.writeFileSync(process.env.TMPDIR + "/x", "x");\nout(fs.readFileSync("${table}", "utf8") + fs.readdirSync("${at.name}/more").join());\n`,
      stage: { files: [table, `${at.name}/more/**`, `${at.name}/more.txt`] },
    },
    globs: {
      text: `${start}out(fs.globSync("${at.name}/more/*.json").join() + "nothing");\n`,
      stage: { files: [`${at.name}/more/**`] },
    },
    globsLater: {
      text: `${start}out((await Array.fromAsync(fs.promises.glob("${at.name}/more/*.json"))).join() + "nothing");\n`,
    },
    inside: {
      text: `${start}out(fs.globSync("*.json", { cwd: "${at.name}/more" }).join().replace(/^$/, () => { throw new Error("nothing"); }));\n`,
      stage: { files: [`${at.name}/more/**`] },
    },
    root: { text: `${start}out(fs.readdirSync(".").join());\n` },
    moves: {
      text: `${start}process.chdir(process.env.TMPDIR!);\nlet text = "x";\ntry { text = fs.readFileSync("../" + "../".repeat(20) + "${join(repository.path, table)}".slice(1), "utf8"); } catch {}\nout(text);\n`,
    },
    bases: {
      text: `${start}import { DatabaseSync } from "node:sqlite";
const base = new DatabaseSync(process.env.TMPDIR + "/x");
base.exec("create table t (a)");
new DatabaseSync("file:one?mode=memory").exec("create table t (a)");
for (const ask of [
  () => new DatabaseSync("${at.name}/q1.db", { readOnly: true }),
  () => new DatabaseSync("file:${at.name}/q2.db?mode=ro"),
  () => new DatabaseSync("${at.name}/left.db"),
]) {
  try {
    ask();
  } catch {}
}
out("x");
`,
    },
    addons: { text: `${start}process.dlopen({ exports: {} }, "./x.node");\nout("x");\n` },
    asks: { text: `${start}out(String(fs.statSync(".").mtimeMs));\n` },
    probes: { text: probing(at.name) },
    copies: {
      text: `${start}import "zx";\nconst to = process.env.TMPDIR!;\nfs.cpSync("${at.name}/more", to + "/a/b", { recursive: true });\nawait fs.promises.cp("${at.name}/more", to + "/c", { recursive: true });\nout([...fs.readdirSync(to + "/a/b"), ...fs.readdirSync(to + "/c")].join());\nif (fs.readFileSync(outputs.text!, "utf8") !== "one.json,one.json") throw new Error("not copied");\n`,
      stage: { files: [`${at.name}/more/**`] },
    },
    copiesMore: {
      text: `${start}fs.cpSync("${at.name}/more", process.env.TMPDIR + "/a", { recursive: true });\nout("x");\n`,
    },
    programs: {
      text: `${start}import { $ } from "zx";\nimport { execFileSync } from "node:child_process";\nconst free = execFileSync(process.execPath, ["-p", "require('fs').readFileSync('${table}', 'utf8')"], { encoding: "utf8" });\nout(free + (await $\`echo x\`).stdout);\n`,
      stage: { programs: true },
    },
  });
  writeFileSync(join(at.outside, "word"), "x");
  const found = await causes(at);
  const yaml = repository.read(`pipelines/${at.name}.yaml`).split("\n");
  const place = (name: string) =>
    `pipelines/${at.name}.yaml:${yaml.findIndex((line) => line.includes(`"${name}": {`)) + 1}`;
  const allow = (name: string, key: string) => `in ${place(name)}, stage "${name}", write \`${key}\``;
  const undeclared = "which it does not declare";
  const ended = "exit-code: exit status 1: stage";
  assert.equal(
    found.reads,
    `${ended} "reads" reads ${table}, ${undeclared}; ${allow("reads", `files: [${table}]`)}`,
  );
  assert.equal(
    found.later,
    `${ended} "later" reads ${table}, ${undeclared}; ${allow("later", `files: [${table}]`)}`,
  );
  assert.equal(
    found.swallows,
    `exit-code: it went on without what it was refused: stage "swallows" reads ${table}, ${undeclared}; ${allow("swallows", `files: [${table}]`)}`,
  );
  assert.match(found.adds!, new RegExp(`write \`files: \\[README\\.md, ${table}\\]\``));
  assert.match(
    found.lists!,
    new RegExp(`lists the folder ${at.name}/more, .*write \`files: \\["${at.name}/more/\\*\\*"\\]\``),
  );
  assert.match(found.outside!, /reads a file outside of the repository, .*under `needs`/);
  assert.match(found.writes!, new RegExp(`writes ${at.name}/left.txt, which is not one of its outputs`));
  assert.match(found.starts!, /starts a program \(echo\), .*write `programs: true`$/);
  assert.match(found.reaches!, /uses the network.*write `network: full`$/);
  assert.match(found.works!, /starts a program \(a worker thread\), .*write `programs: true`$/);
  assert.equal(found.looks, "succeeded", "what is not there is not read");
  assert.match(found.finds!, new RegExp(`went on without .* reads ${table},`));
  for (const name of ["globs", "globsLater"])
    assert.match(
      found[name]!,
      /went on without .* lists the repository's root, .*a glob starts at its `cwd`/,
    );
  assert.equal(found.inside, "succeeded");
  assert.equal(found.copies, "succeeded", (await at.pipeline(["log", "copies", "--root", at.root])).stdout);
  assert.match(found.copiesMore!, new RegExp(`lists the folder ${at.name}/more,`));
  assert.match(
    found.root!,
    /lists the repository's root, .*the folders that it reads, each as `FOLDER\/\*\*`/,
  );
  assert.match(
    found.asks!,
    /asks about the repository's root, .*; existsSync and access work on undeclared folders too/,
  );
  assert.equal(found.probes, "succeeded", (await at.pipeline(["log", "probes", "--root", at.root])).stdout);
  const reads = [1, 2].map((index) => `reads ${at.name}/q${index}.db`);
  assert.deepEqual(await refusalsOf(at, "bases"), [...reads, `writes ${at.name}/left.db`]);
  assert.equal(found.declared, "succeeded");
  assert.equal(found.programs, "succeeded", "what it starts is not held, Node included");
});

test("a Python stage has the same permissions as a TypeScript stage", async (t) => {
  const at = lab(t, repository);
  shareEnvironments(at.root);
  at.script("table.json", '{"rows": [1]}\n');
  at.script("data/more.json", "1");
  for (const index of [0, 1, 2, 3, 4]) at.script(`q${index}.json`, "1");
  for (const index of [5, 6]) symlinkSync("table.json", join(repository.path, at.name, `q${index}.json`));
  symlinkSync("data", join(repository.path, at.name, "folder"));
  const table = `${at.name}/table.json`;
  const python = `import os, pathlib, socket, subprocess, sys
from mlrb_kit.stage import read_stage
out = read_stage().output("text").write_text
`;
  defineEach(at, {
    reads: { text: `${python}out(pathlib.Path("${table}").read_text())\n` },
    swallows: { text: `${python}try:\n    open("${table}")\nexcept OSError:\n    pass\nout("x")\n` },
    lists: { text: `${python}out(str(os.listdir("tasks")))\n` },
    writes: { text: `${python}open("${at.name}/left.txt", "w").write("x")\nout("x")\n` },
    starts: { text: `${python}out(subprocess.check_output(["echo", "x"], text=True))\n` },
    links: {
      text: `${python}link = pathlib.Path(os.environ["TMPDIR"], "x")\nos.link("${table}", link)\nout(link.read_text())\n`,
    },
    points: {
      text: `${python}link = pathlib.Path(os.environ["TMPDIR"], "x")\nlink.symlink_to(os.path.abspath("${table}"))\nout(link.read_text())\n`,
    },
    winds: { text: `${python}out(pathlib.Path("/proc/self/cwd/${table}").read_text())\n` },
    asks: {
      text: `${python}import sqlite3\nsqlite3.connect(":memory:").close()\nsqlite3.connect("${table}").close()\nout("x")\n`,
    },
    questions: {
      text: `${python}folder, tasks = os.open("${at.name}", os.O_RDONLY), os.open("tasks", os.O_RDONLY)
for ask in (
    lambda: os.open("q0.json", os.O_RDONLY, dir_fd=folder),
    lambda: os.path.exists("${at.name}/q1.json"),
    lambda: pathlib.Path("${at.name}/q2.json").stat(),
    lambda: os.stat("q3.json", dir_fd=folder),
    lambda: os.access(b"${at.name}/q4.json", os.R_OK),
    lambda: os.readlink("${at.name}/q5.json"),
    lambda: os.path.realpath("${at.name}/q6.json"),
    lambda: os.listdir(tasks),
    lambda: os.mkdir("left", dir_fd=folder),
):
    try:
        ask()
    except OSError:
        pass
out("x")
`,
    },
    databases: {
      text: `${python}import sqlite3\nwith sqlite3.connect(os.environ["TMPDIR"] + "/x") as base:\n    base.execute("create table t (a)")\nout(str(base.execute("select * from t").fetchall()))\n`,
    },
    searches: {
      text: `${python}at = pathlib.Path("${at.name}").resolve()
for folder in (at, *at.parents):
    assert folder.is_dir() and not (folder / ".tool-of-nobody").exists()
assert os.stat in os.supports_dir_fd and os.path.isdir("tasks") and os.path.islink("${at.name}/folder")
assert os.path.realpath("${at.name}/folder/x") == str(at / "data/x")
folder = os.open(os.environ["TMPDIR"], os.O_RDONLY)
file = os.open("package.json", os.O_CREAT | os.O_WRONLY, dir_fd=folder)
assert os.stat(file).st_size == os.stat("package.json", dir_fd=folder).st_size == 0
os.rename("package.json", "tasks", src_dir_fd=folder, dst_dir_fd=folder)
out(str(os.listdir(folder)))
`,
    },
    probes: {
      text: `${python}import ctypes.util, platform\nctypes.util.find_library("m")\nout(platform.platform() + platform.processor())\n`,
    },
    reaches: { text: `${python}socket.create_connection(("192.0.2.1", 9), timeout=1)\nout("x")\n` },
    declared: {
      text: `${python}import tempfile, shutil\nfolder = pathlib.Path(tempfile.mkdtemp())\n(folder / "tasks").mkdir()\n(folder / "tasks" / "x").write_text("x")\nshutil.rmtree(folder)\nsocket.socket().connect_ex(("127.0.0.1", 9))\nout(pathlib.Path("${table}").read_text())\n`,
      stage: { files: [table] },
    },
    programs: {
      text: `${python}out(subprocess.check_output([sys.executable, "-c", "print(open('${table}').read())"], text=True, env={k: v for k, v in os.environ.items() if k != "MLRB_PERMISSIONS"}))\n`,
      stage: { programs: true },
    },
  });
  const found = await causes(at);
  assert.match(
    found.reads!,
    new RegExp(
      `stage "reads" reads ${table}, which it does not declare; in pipelines/${at.name}.yaml:\\d+, stage "reads", write \`files: \\[${table}\\]\`$`,
    ),
  );
  assert.match(found.swallows!, new RegExp(`it went on without .* reads ${table},`));
  assert.match(found.lists!, /lists the folder tasks, .*write `files: \["tasks\/\*\*"\]`/);
  assert.match(found.writes!, new RegExp(`writes ${at.name}/left.txt, which is not one of its outputs`));
  assert.match(found.starts!, /starts a program \(echo\), .*write `programs: true`$/);
  for (const name of ["links", "points", "asks", "winds"])
    assert.match(found[name]!, new RegExp(`stage "${name}" reads ${table}, which it does not declare`));
  const reads = [0, 1, 2, 3, 4, 5, 6].map((index) => `reads ${at.name}/q${index}.json`);
  assert.deepEqual(await refusalsOf(at, "questions"), [
    ...reads,
    "lists the folder tasks",
    `writes ${at.name}/left`,
  ]);
  for (const name of ["searches", "databases"])
    assert.equal(found[name], "succeeded", (await at.pipeline(["log", name, "--root", at.root])).stdout);
  assert.equal(found.probes, "succeeded", "the standard library does without the programs that it asks");
  assert.match(found.reaches!, /uses the network \(192\.0\.2\.1\), .*write `network: full`$/);
  assert.equal(found.declared, "succeeded");
  assert.equal(found.programs, "succeeded");
});

test("a Python stage imports a module's source, whatever byte code other programs left next to it", async (t) => {
  const at = lab(t, repository);
  shareEnvironments(at.root);
  const other = join(at.outside, "helper.py");
  writeFileSync(other, 'value = "cached"\n');
  const source = join(repository.path, at.script("helper.py", 'value = "source"\n'));
  const { atime, mtime } = statSync(source);
  utimesSync(other, atime, mtime); // importlib compares the time and the size
  const compiling = `import importlib.util, py_compile, sys
py_compile.compile(sys.argv[1], cfile=importlib.util.cache_from_source(sys.argv[2]), doraise=True)`;
  execFileSync(testPython(), ["-c", compiling, other, source]);
  const stage = `import helper
from mlrb_kit.stage import read_stage
read_stage().output("text").write_text(helper.value)
`;
  defineEach(at, { imports: { text: stage } });
  assert.equal((await causes(at)).imports, "succeeded");
  const results = globSync(`${at.root}/results/**/imports`).map((file) => readFileSync(file, "utf8"));
  assert.deepEqual(results, ["source"]);
});

test("everything that a script may read of a folder declared whole is in its key, also links and dotfiles", async (t) => {
  const at = lab(t, repository);
  at.script("data/.hidden", "1");
  at.script("beyond.txt", "1");
  at.script("beyond/inner.txt", "1");
  symlinkSync("../beyond.txt", join(repository.path, at.name, "data/link.txt"));
  symlinkSync("../beyond", join(repository.path, at.name, "data/folder"));
  const names = [".hidden", "link.txt", "folder/inner.txt"].map((name) => `${at.name}/data/${name}`);
  const script = at.script(
    "whole.ts",
    `${start}out(${JSON.stringify(names)}.map((name) => fs.readFileSync(name, "utf8")).join());\n`,
  );
  at.define({ stages: { whole: { script, files: [`${at.name}/data/**`], gives: { text: "file" } } } });
  assert.deepEqual(outcomes(await at.run()), { whole: "succeeded" });
  for (const edited of ["data/.hidden", "beyond.txt", "beyond/inner.txt"]) {
    assert.deepEqual(outcomes(await at.run()), { whole: "reused" });
    at.script(edited, "2");
    assert.deepEqual(outcomes(await at.run()), { whole: "succeeded" }, edited);
  }
});

test("permissions are in no key: allowing more reuses the existing results", async (t) => {
  const at = lab(t, repository);
  const script = at.script("plain.ts", `${start}out("x");\n`);
  const define = (more: object) =>
    at.define({ stages: { plain: { script, gives: { text: "file" }, ...more } } });
  define({});
  assert.deepEqual(outcomes(await at.run()), { plain: "succeeded" });
  define({ programs: true, network: "full" });
  assert.deepEqual(outcomes(await at.run()), { plain: "reused" });
});

test("repository and state reached through links, and declared files that are links, are read as declared", async (t) => {
  const at = lab(t, repository);
  const elsewhere = join(at.outside, "elsewhere");
  mkdirSync(elsewhere);
  const linkedRoot = join(at.outside, "root-link");
  symlinkSync(elsewhere, linkedRoot);
  const linkedRepository = join(at.outside, "repository-link");
  symlinkSync(repository.path, linkedRepository);
  at.script("real.json", '"through a link"');
  symlinkSync("real.json", join(repository.path, at.name, "link.json"));
  const script = at.script(
    "links.ts",
    `${start}import { basename } from "node:path";\nimport { word } from "./word.ts";\nout(fs.readFileSync("${at.name}/link.json", "utf8") + fs.readFileSync(import.meta.dirname + "/link.json") + fs.realpathSync(process.env.TMPDIR!).length + word + basename(process.cwd()));\n`,
  );
  at.script("word.ts", "export const word = 'word';\n");
  at.define({ stages: { links: { script, files: [`${at.name}/link.json`], gives: { text: "file" } } } });
  for (const root of [linkedRoot, at.root]) {
    const said = await at.pipeline(["run", at.name, "--json", "--root", root]);
    const log = await at.pipeline(["log", "links", "--root", root]);
    assert.equal(lineOf(said, "links").outcome, "succeeded", said.stdout + log.stdout);
  }
});

test("an undeclared read of an attempt's script is reported with the line to write, and ends no attempt; its own step has none", async (t) => {
  const at = lab(t, repository);
  const [table, named] = [at.script("table.json", "1\n"), at.script("named.json", "2\n")];
  const ways = `import { readFile } from "node:fs/promises";
import { execFileSync } from "node:child_process";
const text = (await readFile("${table}", "utf8")) + fs.readFileSync("${named}", "utf8");
fs.existsSync("${at.name}/nowhere.json");
try { fs.readFileSync("${at.name}/nowhere.json"); } catch {}
const told = execFileSync(process.execPath, ["-p", "process.env.MLRB_RECORDER + process.execArgv.join()"], { encoding: "utf8" });
if (told !== "undefined-p\\n" && told !== "undefined-p,process.env.MLRB_RECORDER + process.execArgv.join()\\n") throw new Error(told);
const file = fs.openSync(process.env.MLRB_WORK + "/synced", "w");
fs.fsyncSync(file);
`;
  const script = at.script("own.ts", `${start}${ways}out(text);\n`);
  at.define({ stages: { attempt: { script, durable: true, files: [named], gives: { text: "file" } } } });
  const said = await at.pipeline(["run", at.name, "--root", at.root]);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const what = `stage "attempt" reads ${table}, which it does not declare`;
  assert.match(
    said.stderr,
    new RegExp(
      `undeclared: ${what}, so no key holds it; in pipelines/.*write \`files: \\[${named}, ${table}\\]\``,
    ),
  );
  assert.doesNotMatch(said.stderr, new RegExp(`reads ${named}|nowhere`));
  const log = await at.pipeline(["log", "attempt", "--root", at.root]);
  assert.match(log.stdout, new RegExp(`undeclared: ${what}`));
  assert.deepEqual(outcomes(await at.run()), { attempt: "reused" });
  const step = lab(t, repository);
  defineAttempts(step, { script: 'echo x > "$MLRB_SUBMISSION/x"', trusted: true });
  const ran = await step.pipeline(["run", step.name, "--root", step.root]);
  assert.equal(ran.code, 0, ran.stdout + ran.stderr);
  assert.doesNotMatch(ran.stderr, /undeclared/);
});
