// Damages every file of a kind in the state folder of a small pipeline, in one way, and checks that no run has a
// wrong result. The default tier uses two ways for each kind, the thorough tier the others, on the first, the last
// and a random file of a kind (MLRB_TEST_SEED repeats it, MLRB_TEST_DAMAGE=full takes all).
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { seededRandom } from "@mlrb/core/statistics/random";
import { filesBelow, type Lab, lab, results, summary } from "./lab.ts";
import { sample } from "./machines/system-calls.ts";
import type { ProgramOutput } from "./run-program.ts";
import { testSeed } from "./test-seed.ts";
import type { Repository } from "./throw-away-repository.ts";

const full = process.env.MLRB_TEST_DAMAGE === "full";
const random = seededRandom(testSeed);

export function damagedPipeline(at: Lab): void {
  const script = at.script(
    "double.ts",
    'import { readFileSync, writeFileSync } from "node:fs";\nimport { stage } from "@mlrb/kit/stage";\nconst { inputs, outputs } = stage();\nwriteFileSync(outputs.text!, readFileSync(inputs.text!, "utf8").repeat(2));\n',
  );
  at.script("words.txt", "some words\n");
  at.define({
    stages: {
      source: {
        files: [`${at.name}/words.txt`],
        command: `cat ${at.name}/words.txt > {outputs.text}`,
        gives: { text: "file" },
      },
      attempt: {
        durable: true,
        needs: ["source.text"],
        command:
          "mkdir {outputs.all}/deep; cat {inputs.text} > {outputs.all}/deep/a; echo b > {outputs.all}/b",
        gives: { all: "dir" },
      },
      double: { needs: ["source.text"], script, gives: { text: "file" } },
      report: {
        needs: { all: "attempt.all", text: "double.text" },
        command:
          "cat {inputs.all}/b {inputs.text} > {outputs.report}/report.txt; mkdir {outputs.report}/more; cat {inputs.all}/deep/a > {outputs.report}/more/a",
        gives: { report: "dir" },
      },
    },
  });
}

export const expected = (at: Lab) => ({
  [`${at.name}/default/more/a`]: "some words\n",
  [`${at.name}/default/report.txt`]: "b\nsome words\nsome words\n",
});

function sound(at: Lab, said: ProgramOutput, hint: string): void {
  assert.doesNotMatch(said.stderr, /^\s+at |TypeError|SyntaxError|undefined|This is a bug in mlrb/m, hint);
  assert.ok(said.code === 0 || said.code === 1, hint);
  if (said.code === 1)
    assert.ok(said.stderr.trim() !== "" || /"cause":"/.test(said.stdout), `fails without a word; ${hint}`);
  for (const [path, bytes] of Object.entries(results(at)))
    assert.equal(bytes, (expected(at) as Record<string, string>)[path], hint);
}

/** The ways of the default tier. */
const often = ["removed", "flipped in one bit"];

const damages: [string, (path: string) => void][] = [
  ["removed", (path) => rmSync(path)],
  ["emptied", (path) => cut(path, 0)],
  ["cut in half", (path) => cut(path, Math.floor(statSync(path).size / 2))],
  [
    "overwritten with noise of equal length",
    (path) => rewrite(path, Buffer.alloc(statSync(path).size, "\u0007")),
  ],
  ["flipped in one bit", (path) => rewrite(path, flipped(readFileSync(path)))],
  ["made another JSON", (path) => rewrite(path, Buffer.from("{}"))],
  ["made null", (path) => rewrite(path, Buffer.from("null"))],
];

export function rewrite(path: string, bytes: Buffer): void {
  rmSync(path);
  writeFileSync(path, bytes);
}

/** Damages in place, so that hard links are damaged too. Contents are read-only. */
function cut(path: string, bytes: number): void {
  const { mode } = statSync(path);
  chmodSync(path, mode | 0o200);
  truncateSync(path, bytes);
  chmodSync(path, mode);
}

export function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = Math.floor(copy.length / 2);
  if (copy.length > 0) copy[at] = copy[at]! ^ 1;
  return copy;
}

/** All files of a kind in the state folder. */
const places: { name: string; files: (at: Lab) => string[] }[] = [
  { name: "a blob", files: (at) => below(at, "cache/blobs") },
  { name: "an action's entry", files: (at) => below(at, "cache/actions") },
  {
    name: "a file of memory",
    files: (at) => below(at, "cache/memory").filter((path) => path.endsWith(".json")),
  },
  { name: "the file of last runs", files: (at) => below(at, "cache/last") },
  { name: "the index of attempts", files: (at) => [join(at.root, ".mlrb/attempts/index.jsonl")] },
  { name: "a journal", files: (at) => below(at, "journals").filter((path) => path.endsWith(".jsonl")) },
];

export function below(at: Lab, folder: string): string[] {
  const under = join(at.root, ".mlrb", folder);
  return Object.keys(filesBelow(under)).map((path) => join(under, path));
}

/** Defines the tests of one tier. */
export function testDamages(repository: Repository, tier: "default" | "thorough"): void {
  if (tier === "thorough") console.log(`three files of each kind with MLRB_TEST_SEED=${testSeed}`);
  for (const { name, files } of places) {
    for (const [how, damage] of damages.filter(([how]) => often.includes(how) === (tier === "default"))) {
      test(`${name} ${how}: no result is wrong, and without results the next runs complete`, async (t) => {
        const at = lab(t, repository);
        damagedPipeline(at);
        assert.equal((await at.run()).code, 0);
        assert.deepEqual(results(at), expected(at));
        const paths = files(at);
        assert.ok(paths.length > 0);
        for (const path of tier === "default" || full ? paths : sample(paths, 3, random)) {
          if (!existsSync(path)) continue; // an earlier round replaced the file
          const hint = `${path} was ${how}`;
          damage(path);
          // published results must be made from the store, which is damaged
          rmSync(join(at.root, "results"), { recursive: true, force: true });
          sound(at, await at.plan(), hint);
          sound(at, await at.run(), hint);
          let tries = 0;
          for (let said = await at.run(); said.code !== 0; said = await at.run()) {
            sound(at, said, hint);
            assert.ok(++tries < 4, `it does not come to an end; ${hint}\n${said.stdout}${said.stderr}`);
          }
          assert.deepEqual(results(at), expected(at), hint);
          assert.equal(
            readdirSync(join(at.root, ".mlrb/attempts/records")).length,
            1,
            `the attempt was made again; ${hint}`,
          );
          if (name !== "a journal") continue;
          const log = await at.pipeline(["log", "source", "--root", at.root]);
          assert.ok(log.code === 0 || log.code === 2, hint);
          assert.doesNotMatch(log.stderr, /^\s+at /m, hint);
        }
        assert.equal(summary(await at.run()).outcomes.reused, 4);
      });
    }
  }
}
