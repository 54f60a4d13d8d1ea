import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Attempt, AttemptScore } from "@mlrb/formats/report/attempt";
import { chosenSubmissions, comparedAttempts, judgedScore } from "./chosen-submissions.ts";
import { publishedPlaces } from "./published-folder.ts";
import { rescoreSums, submissionLines, sumsLine } from "./rescore-words.ts";

const scored = (value: number) => ({ kind: "scored", value }) as AttemptScore;
const rejected = { kind: "rejected", reason: "no weights" } as AttemptScore;
const missing: AttemptScore = { kind: "not-measured", cause: "out of memory" };

function attempt(seed: number, submission: string | null, score = scored(1)): Attempt {
  return { task: "letters", agent: "nop", seed, submission, scores: { accuracy: score } } as never;
}

const twenty = Array.from({ length: 20 }, (_, at) => attempt(at, `d${at}`));
const names = (count: number, seed: string, attempts = twenty) =>
  chosenSubmissions({ attempts }, { count, seed }).chosen.map(({ submission }) => submission);

test("the seed alone chooses the submissions, whatever the order of attempts, and more of them begin with the same", () => {
  assert.deepEqual(names(5, "a"), names(5, "a", [...twenty].reverse()));
  assert.deepEqual(names(3, "a"), names(5, "a").slice(0, 3));
  assert.notDeepEqual(names(5, "a"), names(5, "b"));
  assert.equal(names(99, "a").length, 20);
});

test("equal submissions to a task are chosen once, and those without a submission or a score never", () => {
  const attempts = [
    attempt(1, "same"),
    attempt(2, "same"),
    attempt(3, null),
    attempt(4, "lost", missing),
    attempt(5, "bad", rejected),
  ];
  assert.deepEqual(names(9, "a", attempts).sort(), ["bad", "same"]);
  assert.equal(chosenSubmissions({ attempts }, { count: 1, seed: "a" }).published, 2);
});

test("a forged score of any attempt that shares a submission is compared", () => {
  const attempts = [
    attempt(1, "same"),
    attempt(2, "same", scored(9)),
    attempt(3, "same", missing),
    attempt(4, "other", scored(9)),
  ];
  const { chosen } = chosenSubmissions({ attempts }, { count: 9, seed: "a" });
  const same = chosen.find(({ submission }) => submission === "same")!;
  const judged = comparedAttempts(same, (_, published) => judgedScore(published, scored(1), 0.01).kind);
  assert.deepEqual(
    judged.map(({ attempt, scores }) => [attempt.seed, scores]),
    [
      [1, ["equal"]],
      [2, ["beyond"]],
    ],
  );
});

test("a difference is beyond the tolerance from its share of the larger value on", () => {
  const kind = (from: AttemptScore, to: AttemptScore, tolerance = 0.01) =>
    judgedScore(from, to, tolerance).kind;
  assert.equal(kind(scored(0), scored(0), 0), "equal");
  assert.equal(kind(scored(100), scored(99)), "within");
  assert.equal(kind(scored(-100), scored(-98.9)), "beyond");
  assert.equal(kind(scored(1), scored(1 + 1e-12), 0), "beyond");
  assert.equal(kind(scored(1), scored(Number.NaN)), "beyond");
  assert.equal(kind(scored(0), rejected), "beyond");
  assert.equal(kind(rejected, scored(0)), "beyond");
  assert.equal(kind(rejected, rejected), "equal");
  assert.equal(kind(scored(1), missing), "not-rescored");
});

test("the words name each difference, and what depends on the machine is printed but not judged", () => {
  const at = (metric: string, from: number, to: number, host = false, differs: string[] = []) => ({
    ...{ metric, host, differs },
    judged: judgedScore(scored(from), scored(to), 0.01),
  });
  const one = { task: "letters", submission: "0123456789abcdef", attempt: attempt(7, "x") };
  const done = [
    { ...one, scores: [at("accuracy", 0.5, 0.25, false, ["input rows"]), at("bytes", 100, 120, true)] },
    { ...one, scores: [at("accuracy", 0.5, 0.5)] },
    { ...one, scores: [], problem: "it is gone" },
  ];
  assert.deepEqual(done.flatMap(submissionLines), [
    "letters, nop, seed 7: submission 0123456789ab",
    "  accuracy: 0.5 in the bundle, 0.25 now (-0.25), beyond the tolerance",
    "    not as in the bundle: input rows",
    "  bytes: 100 in the bundle, 120 now (+20), not judged: it depends on the machine",
    "letters, nop, seed 7: submission 0123456789ab",
    "  accuracy: 0.5, equal",
    "letters, nop, seed 7: submission 0123456789ab",
    "  not rescored: it is gone",
  ]);
  const sums = rescoreSums(done);
  assert.deepEqual(sums, { equal: 1, within: 0, beyond: 1, host: 1, missing: 1 });
  assert.equal(
    sumsLine(sums, 3),
    "scores of 3 submissions: 1 equal, 1 not judged, 1 beyond the tolerance, 1 not rescored",
  );
});

test("a score that became a rejection is judged, also where the value depends on the machine", () => {
  const judged = judgedScore(scored(100), rejected, 0.01);
  const one = { task: "letters", submission: "0123456789abcdef", attempt: attempt(7, "x") };
  const done = [{ ...one, scores: [{ metric: "bytes", judged, host: true, differs: [] }] }];
  assert.deepEqual(rescoreSums(done), { equal: 0, within: 0, beyond: 1, host: 0, missing: 0 });
  assert.equal(done.flatMap(submissionLines)[1], "  bytes: 100, now rejected: differs");
});

test("submissions are found by the digest in their record, or by the name of their folder", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "published-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [record, broken, plain, digest] = ["1", "2", "3", "4"].map((sign) => sign.repeat(64)) as [
    string,
    string,
    string,
    string,
  ];
  for (const name of [record, broken, plain, "notes"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, record, "record.json"), JSON.stringify({ outputs: { submission: { digest } } }));
  writeFileSync(join(folder, broken, "record.json"), "{");
  const found = publishedPlaces(folder);
  assert.deepEqual(found.get(digest), { path: folder, inside: `${record}/submission` });
  assert.deepEqual(found.get(plain), { path: folder, inside: plain });
  assert.deepEqual([...found.keys()].sort(), [broken, plain, digest]);
});
