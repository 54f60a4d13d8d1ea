// Archives of records and evidence bundles come from other people. A text in one never chooses the program that
// runs.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { after, before, test } from "node:test";
import { canonicalJson } from "@mlrb/kit/json-file";
import { writeBag } from "../runners/cli/src/bundle/write-bag.ts";
import { counted, type Lab, lab, lineOf } from "./support/lab.ts";
import type { ProgramOutput } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

let at: Lab;
let archive: string;
let made: string;
const cleanups: (() => void)[] = [];
after(() => {
  for (const one of cleanups) one();
});

const axes = ["task", "agent", "seed"];

/** A state in which one attempt was made, with an archive of it. */
before(async () => {
  at = lab({ after: (fn: () => void) => cleanups.push(fn) } as never, repository);
  at.define({
    axes: { task: ["letters"], agent: ["plain"], seed: [1] },
    stages: {
      attempt: {
        ...{ role: "attempt", each: axes, durable: true },
        command: counted(at, "attempt", "echo made > {outputs.submission}/model"),
        gives: { submission: "dir" },
      },
      report: {
        collect: ["attempt.submission"],
        roles: ["attempt"],
        script: "pipelines/steps/report.ts",
        params: {
          ...{ title: "Small", label: "test", tasks: { letters: "Letters" }, agents: { plain: "Plain" } },
          ...{ primary: {}, baselines: {}, scorers: {}, units: {}, directions: {}, digits: {} },
        },
        gives: { report: "dir" },
      },
    },
  });
  await at.run("--only", "attempt");
  archive = join(at.outside, "archive");
  assert.equal((await attempts("export", archive)).code, 0);
  made = readdirSync(archive)[0]!;
  // programs that show that they ran, outside the repository and inside, where nothing calls them a pipeline
  const text = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(ran())}, "");\nexport default {};\n`;
  for (const place of [dirname(repository.path), join(repository.path, "archive")]) {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "evil.ts"), text);
  }
});

const ran = () => join(at.outside, "the program of a stranger ran");

/** Names in place of a pipeline's; none is one. */
const hostileNames = () => [
  "../evil.ts",
  "archive/evil.ts",
  "./archive/evil.ts",
  "pipelines/../../evil.ts",
  join(dirname(repository.path), "evil.ts"),
  relative(process.cwd(), join(dirname(repository.path), "evil.ts")),
  `file://${dirname(repository.path)}/evil.ts`,
  "..\\evil.ts",
  "evil.ts",
  "..",
  "",
  "--profile",
  "*",
  "^(a+)+$",
  "__proto__",
  `${at.name}\0`,
  `${at.name} smoke`,
  "\u001b]0;title\u0007",
  "<script>alert(1)</script>",
  `a${"/..".repeat(2000)}/evil.ts`,
];

const attempts = (...args: string[]): Promise<ProgramOutput> =>
  at.pipeline(["attempts", ...args, "--root", at.root]);

/** Copies the made record to a folder with other fields, under the digest that fits. */
function forge(to: string, change: object, more: object = {}): string {
  const record = JSON.parse(readFileSync(join(archive, made, "record.json"), "utf8"));
  const text = `${canonicalJson({ ...record, ...more, slot: { ...record.slot, ...change } }, 2)}\n`;
  const digest = createHash("sha256").update(text).digest("hex");
  cpSync(join(archive, made), join(to, digest), { recursive: true });
  writeFileSync(join(to, digest, "record.json"), text);
  return digest;
}

const harmless = (said: ProgramOutput) =>
  assert.doesNotMatch(said.stdout + said.stderr, /[\0\u0007\u001b\u009b\u202e]/, "the terminal");

for (const field of ["pipeline", "profile", "stage"])
  test(`a record whose ${field} is no name is not imported, and nothing that it names runs`, async () => {
    const evil = join(at.outside, `evil-${field}`);
    const forged = hostileNames().map((name) => forge(evil, { [field]: name }));
    const said = await attempts("import", evil);
    for (const args of [["thin", "--dry-run"], ["list"], ["thin", "--dry-run", forged[0]!.slice(0, 12)]])
      harmless(await attempts(...args));
    assert.ok(!existsSync(ran()), "a program of a stranger ran");
    assert.equal(said.code, 1);
    assert.match(said.stdout, /^0 attempts imported, 20 refused\n$/);
    harmless(said);
    assert.deepEqual(readdirSync(join(at.root, ".mlrb/attempts/records")), [made]);
  });

test("a record with such a name that is here already is damaged: nothing that it names runs", async (t) => {
  const records = join(at.root, ".mlrb/attempts/records");
  for (const name of ["../evil.ts", "archive/evil.ts"]) {
    const digest = forge(records, { pipeline: name });
    t.after(() => rmSync(join(records, digest), { recursive: true }));
    const origin = {
      formatVersion: 1,
      importedAt: "then",
      archive: digest,
      signedBy: null,
      signingKey: null,
    };
    mkdirSync(join(at.root, ".mlrb/attempts/origins"), { recursive: true });
    writeFileSync(join(at.root, `.mlrb/attempts/origins/${digest}.json`), JSON.stringify(origin));
    for (const args of [["thin", "--dry-run"], ["thin", "--dry-run", digest.slice(0, 12)], ["list"]])
      harmless(await attempts(...args));
    assert.match((await attempts("list")).stdout, new RegExp(`damaged.*${digest.slice(0, 12)}`));
  }
  assert.ok(!existsSync(ran()), "a program of a stranger ran");
  assert.equal(lineOf(await at.run("--only", "attempt"), attemptId).outcome, "reused");
  assert.deepEqual(at.executions(), { attempt: 1 });
});

const attemptId = "attempt[task=letters,agent=plain,seed=1]";

test("free texts of a record control no terminal, name no file and are no markup", async () => {
  const [evil, root] = [join(at.outside, "evil-texts"), join(at.outside, "of texts")];
  const odd = "\u001b]0;title\u0007\u009b2J\u202e/../../../x<script>alert(1)</script>$(touch x)`x`";
  const { ran } = JSON.parse(readFileSync(join(archive, made, "record.json"), "utf8"));
  const digest = forge(
    evil,
    {},
    {
      axes: { task: odd.repeat(20), agent: odd, seed: odd, ["__proto__"]: odd },
      harness: { [odd]: odd },
      ran: { ...ran, run: odd, executor: odd, host: odd, where: { [odd]: odd } },
    },
  );
  const from = (...args: string[]) => at.pipeline(["attempts", ...args, "--root", root]);
  assert.equal((await from("import", evil)).stdout, "1 attempt imported\n");
  const name = digest.slice(0, 12);
  const to = join(at.outside, "of texts", "logs");
  for (const args of [
    ["list"],
    ["show", name],
    ["verify"],
    ["thin", "--dry-run"],
    ...["inspect", "atif"].map((format) => ["export", name, "--format", format, "--output", `${to}/`]),
  ])
    harmless(await from(...args));
  const files = readdirSync(to);
  assert.equal(files.length, 2, files.join());
  for (const file of files) assert.match(file, /^\w[\w.+-]*$/);
});

/** An evidence bundle whose digests are right. `stage`: of a member. */
async function bundle({ stage = "score", ...about }: Record<string, string>): Promise<string> {
  const files = join(at.outside, `bundle-${++bundles}`);
  const outside = { score: { kind: "file", digest: "a".repeat(64), path: "../evil.ts" } };
  const member = { stage, name: "score", role: "score", axes: {}, outcome: "succeeded", cause: "" };
  const texts: Record<string, object> = {
    "bundle.json": {
      ...{ formatVersion: 1, pipeline: at.name, profile: "default", selection: "", redacted: [] },
      ...about,
    },
    "manifest.json": { formatVersion: 1, members: [{ ...member, artifacts: outside }] },
  };
  mkdirSync(files);
  for (const [path, value] of Object.entries(texts)) writeFileSync(join(files, path), JSON.stringify(value));
  const file = join(files, "bundle.zip");
  await writeBag(file, files, Object.keys(texts));
  return file;
}
let bundles = 0;

const rebuild = (file: string): Promise<ProgramOutput> =>
  at.pipeline(["report", "--from", file, "--output", `${file}.report`, "--root", at.outside]);

test("a bundle whose pipeline or profile is no name is refused, and nothing that it names runs", async () => {
  for (const about of [
    ...["../evil.ts", "archive/evil.ts", join(dirname(repository.path), "evil.ts")].map((pipeline) => ({
      pipeline,
    })),
    { pipeline: "\u001b]0;title\u0007" },
    { profile: "../../evil" },
  ]) {
    const said = await rebuild(await bundle(about));
    assert.ok(!existsSync(ran()), "a program of a stranger ran");
    assert.equal(said.code, 1, said.stdout + said.stderr);
    assert.match(said.stderr, /changed: data\/bundle\.json cannot be read \((pipeline|profile) is /);
    harmless(said);
  }
});

test("a bundle of another format is refused with the way out", async () => {
  for (const formatVersion of [0, 2] as never[]) {
    const { code, stderr } = await rebuild(await bundle({ formatVersion }));
    assert.equal(code, 1);
    assert.match(
      stderr,
      /bundle\.json cannot be read \(formatVersion is \d, not 1; use the mlrb that wrote it\)/,
    );
  }
});

test("a bundle that names files outside of it is refused, and its texts control no terminal", async () => {
  const said = await rebuild(await bundle({ stage: "\u001b]0;title\u0007" }));
  assert.equal(said.code, 1);
  assert.match(said.stderr, /^not-rebuilt: manifest\.json: .* has a file outside of members\//m);
  harmless(said);
});
