// The corpus of hostile submissions, contained: each folder goes through `validate`, `load` and `verdict` inside
// the walls of the runner and ends with a verdict. A random quarter in namespaces; a random eighth as an ordinary
// user, and the same eighth in a container. MLRB_TEST_SEED repeats the choice, MLRB_TEST_HOSTILE=full takes all
// folders.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { seededRandom } from "@mlrb/core/statistics/random";
import { DockerExecutor } from "@mlrb/docker/docker-executor";
import { hostileBombs } from "@mlrb/kit/admission/testing/hostile-configs";
import { hostileCorpus } from "@mlrb/kit/admission/testing/hostile-corpus";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { localExecutor } from "@mlrb/local/process/local-executor";
import { wallsMissing } from "@mlrb/local/process/walls";
import type { Bomb, ChainFolder } from "./support/hostile-chain/chain-results.ts";
import { type ChainResult, type Corpus, runChain, writeCorpus } from "./support/hostile-chain/run-chain.ts";
import { testEngine } from "./support/machines/docker-engine.ts";
import { testSeed } from "./support/test-seed.ts";

const repository = resolve(import.meta.dirname, "..");
const [MiB, GiB] = [2 ** 20, 2 ** 30];

/** Of validation or the verdict, for one folder. Computing time does not depend on what else the machine does. */
const judgeMax = { cpuMs: 10_000, peakBytes: 512 * MiB, readBytes: 128 * MiB };

/** Of a load: twice the weights, 2 GiB, and the libraries. */
const loadPeakMax = 3 * GiB;

console.log(`samples of the corpus with MLRB_TEST_SEED=${testSeed}`);
const full = process.env.MLRB_TEST_HOSTILE === "full";
const place = mkdtempSync(join(tmpdir(), "hostile-corpus-"));
chmodSync(place, 0o755);
let quarter: Corpus;
let eighth: Corpus;
before(() => {
  const random = seededRandom(testSeed);
  quarter = writeCorpus(newFolder("quarter"), () => full || random.integer(4) === 0);
  eighth = full ? quarter : writeCorpus(newFolder("eighth"), () => random.integer(8) === 0);
});
after(() => removeFolder(place));

function newFolder(name: string): string {
  const folder = join(realpathSync(place), name);
  mkdirSync(folder, { mode: 0o755 });
  return folder;
}

/**
 * An interpreter below a folder of root's, e.g. /root/.pyenv, is made readable in a mount namespace: a bind mount
 * brings it back into an empty file system over that folder.
 */
const readable = `set -e
hidden=$1 interpreter=$2 kept=$3; shift 3
if [ -n "$hidden" ]; then
  mkdir "$kept"
  mount --bind "$interpreter" "$kept"
  mount -t tmpfs -o mode=755 tmpfs "$hidden"
  mkdir -p "$interpreter"
  mount --bind "$kept" "$interpreter"
  umount "$kept"
  rmdir "$kept"
fi
exec setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"`;

/** Cases that harm only a loader. No admission is in front of the load. */
const loadingBombs = [
  ...new Map(
    [...hostileCorpus.filter(({ explodes, large }) => explodes && !large), ...hostileBombs].map((one) => [
      one.name,
      one,
    ]),
  ).values(),
];

/** The worst of them; each run loads these. */
const worstBombs = [
  "config-num-labels-1e9",
  "config-bart-decoder-layers",
  "config-gpt-neo-attention-types",
  "tokenizer-replace-doubles-40-times",
];

function sampledBombs() {
  const random = seededRandom(testSeed + 1);
  return loadingBombs.filter(({ name }) => full || worstBombs.includes(name) || random.integer(4) === 0);
}

const missing = await wallsMissing();
const root = process.getuid?.() === 0;

test(`in namespaces, as ${root ? "root" : "an ordinary user"}: each of a quarter of the hostile folders is contained and gets a verdict`, {
  skip: missing ?? false,
}, async (t) => {
  const result = await runChain(quarter, () => localExecutor(repository), sampledBombs());
  assertContained(t, quarter, result);
  assert.ok(result.folders.length >= (full ? 380 : 60), `${result.folders.length} folders`);
  await t.test(
    "every loading bomb ends as admitted or rejected within 3 GiB, and the worst are rejected",
    () => assertLoads(result.bombs),
  );
});

test("in namespaces, as an ordinary user under root: each of an eighth of the hostile folders is contained and gets a verdict", {
  skip: missing ?? whyNoUser(),
}, (t) => {
  const folder = mkdtempSync(join(tmpdir(), "hostile-user-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o777);
  const program = fileURLToPath(new URL("./support/hostile-chain/run-chain.ts", import.meta.url));
  const files = ["corpus.json", "result.json"].map((name) => join(folder, name));
  writeFileSync(files[0]!, JSON.stringify(eighth));
  const { status, stderr } = asUser([process.execPath, program, ...files], folder);
  assert.equal(status, 0, stderr);
  assertContained(t, eighth, JSON.parse(readFileSync(files[1]!, "utf8")));
});

test("in a container: each of an eighth of the hostile folders is contained and gets a verdict", async (t) => {
  const engine = await testEngine();
  if ("skip" in engine) return t.skip(engine.skip);
  t.after(() => engine.stop());
  const open = (place: string) =>
    new DockerExecutor({
      root: repository,
      state: join(place, ".mlrb"),
      run: "hostile",
      isLive: () => false,
      take: () => true,
      env: { ...engine.env },
    });
  assertContained(t, eighth, await runChain(eighth, open));
});

function asUser(args: string[], folder: string) {
  const { PATH = "", MLRB_PYTHON = "" } = process.env;
  const interpreter = MLRB_PYTHON === "" ? "" : dirname(dirname(realpathSync(MLRB_PYTHON)));
  const kept = join(folder, `interpreter-${randomUUID()}`);
  const script = ["sh", "-c", readable, "sh", hiddenAbove(interpreter), interpreter, kept];
  return spawnSync("unshare", ["--mount", ...script, ...args], {
    encoding: "utf8",
    env: { PATH, MLRB_PYTHON, TMPDIR: folder, HOME: folder },
  });
}

/** The first folder on the way to `path` that other users may not enter, or an empty text. */
function hiddenAbove(path: string): string {
  const parts = path.split("/").slice(1);
  const folders = parts.map((_, at) => `/${parts.slice(0, at + 1).join("/")}`);
  return folders.find((folder) => path !== "" && (statSync(folder).mode & 0o005) !== 0o005) ?? "";
}

function whyNoUser(): string | false {
  if (!root) return "these tests run as an ordinary user already";
  if (asUser(["unshare", "--user", "--pid", "--fork", "true"], tmpdir()).status !== 0)
    return "an ordinary user may have no namespaces here";
  const { MLRB_PYTHON = "python3" } = process.env;
  const reads = ["-c", `open(${JSON.stringify(fileURLToPath(import.meta.url))})`];
  // setpriv finds its program while it still has root's rights; env does not
  return asUser(["env", MLRB_PYTHON, ...reads], tmpdir()).status === 0
    ? false
    : "user 65534 cannot read this checkout or its Python environment, or has no setpriv";
}

function assertContained(
  t: TestContext,
  corpus: Corpus,
  { stages, folders, leaks, changed }: ChainResult,
): void {
  for (const [name, why] of Object.entries(corpus.skipped))
    t.diagnostic(`${name} cannot be made here: ${why}`);
  printLargest(t, folders);
  for (const { result, log, sight } of stages) {
    assert.equal(result.kind, "succeeded", `${JSON.stringify(result)}\n${log}`);
    assert.equal(sight?.file, false, "the stage could see a file outside");
    assert.ok(!sight?.variables.includes("MLRB_TEST_SECRET"), "the stage had the runner's variables");
  }
  assert.deepEqual(changed, [], "files outside of the outputs changed");
  assert.deepEqual(leaks, [], "outputs or logs contain a secret");
  assert.deepEqual(folders.flatMap(problemOf), []);
  assert.equal(folders.length, corpus.folders.length);
  assert.ok(folders.length > 25, `${folders.length} folders`);
}

/** What is wrong with the end of one folder. */
function problemOf(folder: ChainFolder): string[] {
  const { name, codes, validated, admission, loaded, final, judged, verdict } = folder;
  if (!validated || !admission) return [`${name}: no admission: ${validated?.failed}`];
  if (!judged || !verdict) return [`${name}: no verdict: ${judged?.failed}`];
  const problems: string[] = [];
  const found = [...new Set(admission.reasons.map(({ code }) => code))].sort();
  if (String(found) !== String(codes))
    problems.push(`reasons are ${found || "none"}, not ${codes || "none"}`);
  if (admission.reasons.some(({ detail }) => detail === "")) problems.push("a reason is empty");
  if (admission.undecided?.some(({ detail }) => !detail.includes('"')))
    problems.push("undecided without its key");
  for (const [stage, spent] of Object.entries({ validate: validated, judge: judged }))
    for (const limit of ["cpuMs", "peakBytes", "readBytes"] as const)
      if (spent[limit] >= judgeMax[limit]) problems.push(`${limit} is ${spent[limit]} to ${stage}`);
  if (loaded?.exit !== 0 || !final) problems.push("the load says nothing");
  else if (!final.admitted && final.reasons.length === 0) problems.push("the load rejects without a reason");
  else if ((verdict === "rejected") === final.admitted) problems.push(`the verdict is ${verdict}`);
  if (loaded && loaded.peakBytes >= loadPeakMax) problems.push(`peakBytes is ${loaded.peakBytes} to load`);
  return problems.map((problem) => `${name}: ${problem}`);
}

function assertLoads(bombs: Bomb[]): void {
  assert.ok(bombs.length > (full ? 50 : worstBombs.length), `${bombs.length} cases`);
  for (const { name, loaded, final } of bombs) {
    assert.equal(loaded?.exit, 0, name);
    assert.ok(final?.admitted || final?.reasons[0]?.detail, `${name}: no reason`);
    assert.ok(loaded.peakBytes < loadPeakMax, `${name}: ${loaded.peakBytes}`);
  }
  const reason = (wanted: string) =>
    bombs.find(({ name }) => name === wanted)?.final?.reasons[0]?.detail ?? "";
  const [tokenizer, ...configs] = worstBombs.toReversed();
  for (const name of configs) assert.match(reason(name), /^needs more than/, name);
  assert.match(reason(tokenizer!), /^tokenizer\.json: its normalizer/);
}

function printLargest(t: TestContext, folders: ChainFolder[]): void {
  const most = (stage: "validated" | "loaded" | "judged", field: "cpuMs" | "peakBytes", unit: number) =>
    folders
      .flatMap((folder) => ({ name: folder.name, value: folder[stage]?.[field] ?? 0 }))
      .sort((a, b) => b.value - a.value)
      .slice(0, 5)
      .map(({ name, value }) => `${name} ${(value / unit).toFixed(1)}`)
      .join(", ");
  const ends = folders.map(({ final }) =>
    !final ? "no verdict" : !final.admitted ? "rejected" : final.undecided ? "undecided" : "admitted",
  );
  const counts = [...new Set(ends)].map((end) => `${ends.filter((one) => one === end).length} ${end}`);
  t.diagnostic(`${folders.length} folders: ${counts.join(", ")}`);
  t.diagnostic(`validate, seconds of computing: ${most("validated", "cpuMs", 1000)}`);
  t.diagnostic(`validate, MiB of memory: ${most("validated", "peakBytes", MiB)}`);
  t.diagnostic(`verdict, seconds of computing: ${most("judged", "cpuMs", 1000)}`);
  t.diagnostic(`load, seconds of computing: ${most("loaded", "cpuMs", 1000)}`);
  t.diagnostic(`load, MiB of memory: ${most("loaded", "peakBytes", MiB)}`);
}
