import assert from "node:assert/strict";
import { test } from "node:test";
import type { Report } from "@mlrb/formats/report";
import { terminalSection } from "../formats/terminal-table.ts";
import { plainSection } from "../sections/sections.ts";
import {
  Example,
  passed,
  referenceRows,
  rejectedScore,
  scored,
  textItems,
  verdict,
} from "../testing/example.ts";
import { reportChanges } from "./cell-change.ts";
import { changesSection } from "./changes-section.ts";
import { rescored } from "./rescored.ts";
import { type ChangeEvidence, noEvidence, type ScorePlace } from "./score-change.ts";

type Made = {
  /** The first seed. */
  from?: number;
  /** Level of bits per byte by seed; null: rejected. */
  levels: (number | null)[];
  /** By seed; the same for each seed by default. */
  submissions?: string[];
  version?: number;
  disqualified?: number[];
  reference?: number;
  params?: Record<string, unknown>;
};

/** A report of one task, agent and metric, with its samples. */
function made({
  levels,
  submissions = [],
  version = 1,
  disqualified = [],
  reference = 2,
  params = {},
  from = 1,
}: Made) {
  const example = new Example(params);
  const samples = new Map<string, string>();
  example.gives(
    "references",
    { task: "letters", scorer: "bits" },
    referenceRows("bits", [
      { name: "unigram", value: 9, standardError: 0.01 },
      { name: "bigram", value: reference, standardError: 0.01 },
    ]),
  );
  for (const [at, level] of levels.entries()) {
    const seed = at + from;
    const axes = { task: "letters", agent: "plain", seed };
    example.gives("attempt", axes, { submission: submissions[at] ?? `files-${seed}` });
    example.gives("validate", axes, disqualified.includes(seed) ? verdict("disqualified") : passed);
    const gives =
      level === null ? rejectedScore("bits", "too large") : scored("bits", textItems(level, 0.01 * at));
    example.gives(
      "score",
      { ...axes, scorer: "bits" },
      {
        score: { ...gives.score, version },
        samples: gives.samples,
      },
    );
    samples.set(String(seed), gives.samples);
  }
  return { report: example.report(), samples };
}

type Side = ReturnType<typeof made>;

const look = { width: 160, color: false };

/** What a cache would know: `keys` of every score. */
function known(
  { old, now }: { old: Side; now: Side },
  keys: ReturnType<ChangeEvidence["keys"]>,
): ChangeEvidence {
  const sides = { old, now };
  return {
    keys: () => keys,
    samples: (side, { seed }: ScorePlace) => ({ kind: "ok", value: sides[side].samples.get(String(seed))! }),
  };
}

function compared(old: Side, now: Side, evidence = known({ old, now }, [])) {
  const sides = { old: old.report, now: now.report };
  const changes = reportChanges(sides, evidence);
  return { ...changes, cell: changes.cells[0]!, sides, rescored: rescored(changes.scores, sides) };
}

test("equal reports have no change", () => {
  const { cell, rescored } = compared(made({ levels: [3, 3.1] }), made({ levels: [3, 3.1] }));
  assert.equal(cell.kind, "equal");
  assert.deepEqual(cell.causes, []);
  assert.equal(rescored, undefined);
});

test("a changed scorer is named as the cause, and no significance is claimed", () => {
  const key = { stage: "score", words: "code changed: measure.py", old: "a".repeat(64), now: "b".repeat(64) };
  const [old, now] = [made({ levels: [3, 3.1] }), made({ levels: [2, 3.1] })];
  const { cell, rescored } = compared(old, now, known({ old, now }, [key]));
  assert.deepEqual(cell.causes, [{ cause: { kind: "key", ...key }, attempts: 1 }]);
  assert.deepEqual(cell.scores, { changed: 1, rescored: 1, of: 2 });
  assert.deepEqual(cell.itemNoise, {
    kind: "not-tested",
    why: "measured in another way: the scorer or the data changed",
  });
  assert.equal(cell.attemptNoise.kind, "not-tested");
  assert.equal(rescored!.text, "rescored 1 of 2 scores: bits mean −1.000");
});

test("other submissions with a changed scorer are not tested", () => {
  const old = made({ levels: [3, 3.1] });
  const now = made({ levels: [2, 2.1], submissions: ["x", "y"], version: 2 });
  const { cell, rescored } = compared(old, now);
  assert.deepEqual(
    cell.causes.map(({ cause }) => cause.kind),
    ["submission", "version", "submission"],
  );
  assert.equal(cell.itemNoise.kind, "not-tested");
  assert.equal(cell.attemptNoise.kind, "not-tested");
  assert.equal(rescored, undefined);
});

test("other submissions on the same items are tested beyond item noise, with the difference new minus old", () => {
  const old = made({ levels: [3, 3.1] });
  const now = made({ levels: [2.5, 2.6], submissions: ["x", "y"] });
  const { cell } = compared(old, now);
  assert.equal(cell.itemNoise.kind, "tested");
  if (cell.itemNoise.kind !== "tested") return;
  assert.ok(Math.abs(cell.itemNoise.difference + 0.5) < 1e-9);
  assert.equal(cell.itemNoise.beyond, true);
  assert.deepEqual(cell.itemNoise.seeds, [1, 2]);
  assert.deepEqual(cell.attemptNoise.kind, "too-few");
});

test("five other attempts are tested by permutation against the five old ones", () => {
  const levels = [3, 3.1, 3.2, 3.3, 3.4];
  const old = made({ levels });
  const now = made({ levels: levels.map((level) => level - 1), submissions: ["a", "b", "c", "d", "e"] });
  const { cell } = compared(old, now);
  assert.equal(cell.attemptNoise.kind, "tested");
  if (cell.attemptNoise.kind === "tested") assert.ok(Math.abs(cell.attemptNoise.p - 2 / 252) < 1e-9);
});

test("attempts that both reports share are no second sample", () => {
  const levels = [3, 3.1, 3.2, 3.3, 3.4];
  const now = made({ levels: [1, ...levels.slice(1)], submissions: ["a"] });
  const { cell } = compared(made({ levels }), now);
  assert.deepEqual(cell.attemptNoise, {
    kind: "not-tested",
    why: "4 of 5 submissions are in both, so these are no two samples",
  });
  assert.equal(cell.itemNoise.kind, "tested");
});

test("without keys, equal reference models show the same measurement, and no items are tested", () => {
  const levels = [3, 3.1, 3.2, 3.3, 3.4];
  const others = { levels: levels.map((level) => level - 1), submissions: ["a", "b", "c", "d", "e"] };
  const { cell } = compared(made({ levels }), made(others), noEvidence);
  assert.equal(cell.attemptNoise.kind, "tested");
  assert.match(JSON.stringify(cell.itemNoise), /not-tested.*a report\.json holds no samples/);
  const other = compared(made({ levels }), made({ ...others, reference: 2.1 }), noEvidence);
  assert.equal(other.cell.attemptNoise.kind, "not-tested");
  assert.ok(other.cell.causes.some(({ cause }) => cause.kind === "reference-model"));
});

test("without keys and without a shared reference model nothing is tested", () => {
  const [old, now] = [made({ levels: [3, 3.1] }), made({ levels: [2, 2.1], submissions: ["x", "y"] })];
  const bare = (side: Side): Side => ({ ...side, report: { ...side.report, rows: [] } });
  const { cell } = compared(bare(old), bare(now), noEvidence);
  assert.match(JSON.stringify(cell.itemNoise), /it is not known whether scorer and data are the same/);
});

test("a changed number of the same files without keys has an unknown cause", () => {
  const { cell, rescored } = compared(made({ levels: [3] }), made({ levels: [2.9] }), noEvidence);
  assert.deepEqual(
    cell.causes.map(({ cause }) => cause.kind),
    ["unknown"],
  );
  assert.deepEqual(cell.itemNoise, { kind: "not-tested", why: "the same submissions" });
  assert.equal(rescored!.rescored, 1);
});

test("another label is named as other data, and nothing is tested", () => {
  const old = made({ levels: [3, 3.1] });
  const now = made({ levels: [2, 2.1], submissions: ["x", "y"], params: { label: "official" } });
  const { cell } = compared(old, now);
  assert.ok(cell.causes.some(({ cause }) => cause.kind === "data" && cause.now === "official"));
  assert.equal(cell.itemNoise.kind, "not-tested");
});

test("a changed verdict names the rule, and changes the mean without a new score", () => {
  const { cell, rescored } = compared(
    made({ levels: [3, 3.1] }),
    made({ levels: [3, 3.1], disqualified: [2] }),
  );
  assert.deepEqual(cell.causes, [
    {
      cause: {
        kind: "verdict",
        old: "pass",
        now: "disqualified",
        rules: [{ rule: "from-scratch", old: "none", now: "fail" }],
      },
      attempts: 1,
    },
  ]);
  assert.equal(cell.now!.disqualified, 1);
  assert.ok(cell.difference! > 2);
  assert.equal(rescored, undefined, "no score changed");
});

test("another budget and another preset are named by the fields that differ", () => {
  const [old, now] = [made({ levels: [3] }), made({ levels: [2], submissions: ["x"] })];
  for (const [{ report }, timeMs, turnsMax] of [
    [old, 1000, 300],
    [now, 2000, 200],
  ] as const) {
    for (const attempt of report.attempts) attempt.budget = { timeMs, dollars: 2 };
    for (const agent of report.agents)
      agent.preset = { kind: "llm", models: ["m"], planner: null, scaffold: null, turnsMax };
  }
  assert.deepEqual(
    compared(old, now).cell.causes.map(({ cause }) => cause),
    [
      { kind: "budget", old: "timeMs 1000", now: "timeMs 2000" },
      { kind: "preset", old: "turnsMax 300", now: "turnsMax 200" },
      { kind: "submission", old: "files-1", now: "x" },
    ],
  );
});

test("added and removed seeds and cells are named", () => {
  const [one, two] = [made({ levels: [3] }), made({ levels: [3, 3.1] })];
  const more = compared(one, two);
  assert.equal(more.cell.kind, "changed");
  assert.deepEqual([more.cell.old!.planned, more.cell.now!.planned], [1, 2]);
  assert.deepEqual(
    more.scores.map(({ kind }) => kind),
    ["equal", "added"],
  );
  const empty: Side = { ...one, report: { ...one.report, cells: [], attempts: [] } as Report };
  assert.equal(compared(empty, one).cell.kind, "added");
  assert.equal(compared(one, empty).cell.kind, "removed");
  assert.match(JSON.stringify(compared(one, empty).cell.itemNoise), /there is only one side/);
});

test("attempts of other seeds are not said to be the same submissions", () => {
  const { cell } = compared(made({ levels: [3, 3.1] }), made({ levels: [2, 2.1], from: 3 }));
  const why = "no seed is in both, so it is not known whether they were measured alike";
  assert.deepEqual(cell.itemNoise, { kind: "not-tested", why });
  assert.deepEqual(cell.attemptNoise, { kind: "not-tested", why });
});

test("attempts of one side only are named next to other causes", () => {
  const old = made({ levels: [3, 3.1] });
  const now = made({ levels: [2.9, 3.1, 1, 1], version: 2 });
  const { sides, ...changes } = compared(old, now);
  const text = terminalSection(changesSection(changes, { name: "WHAT", sides }), look);
  assert.match(text, /the scorer's version 1 → 2 in 2 of 4 attempts; 2 attempts added\n/);
});

test("another trivial baseline alone is named as the cause, not as added attempts", () => {
  const [old, now] = [made({ levels: [3, 3.1] }), made({ levels: [3, 3.1] })];
  for (const cell of now.report.cells) cell.baseline = 8;
  const { sides, ...changes } = compared(old, now);
  assert.deepEqual(changes.cell.causes, [{ cause: { kind: "baseline", old: 9, now: 8 }, attempts: 2 }]);
  const text = terminalSection(changesSection(changes, { name: "WHAT", sides }), look);
  assert.match(text, /^- letters, bits, plain: trivial baseline 9 → 8$/m);
});

test("an equal declared guess does not show that scores were measured alike", () => {
  const old = made({ levels: [3, 3.1] });
  const now = made({ levels: [2, 2.1], submissions: ["x", "y"] });
  for (const { report } of [old, now]) for (const row of report.rows) row.kind = "guess";
  const { cell } = compared(old, now, noEvidence);
  assert.match(JSON.stringify(cell.itemNoise), /it is not known whether scorer and data are the same/);
});

test("a score that was not measured on one side is not rescored", () => {
  const lost = made({ levels: [3, 3.1] });
  lost.report.attempts[0]!.scores.bits = { kind: "not-measured", cause: "its host is gone" };
  for (const [old, now] of [
    [made({ levels: [3, 3.1] }), lost],
    [lost, made({ levels: [3, 3.1] })],
  ] as const)
    assert.equal(compared(old, now).rescored, undefined);
  assert.equal(
    compared(lost, made({ levels: [3, 3] })).rescored!.text,
    "rescored 1 of 1 scores: bits mean −0.100",
  );
});

test("no name of a foreign report controls the terminal", () => {
  const [old, now] = [made({ levels: [3] }), made({ levels: [2] })];
  const name = "bits\u001b[2J\u202e";
  for (const { report } of [old, now]) {
    for (const metric of report.metrics) if (metric.name === "bits") metric.name = name;
    for (const cell of report.cells) if (cell.metric === "bits") cell.metric = name;
    for (const { scores } of report.attempts) scores[name] = scores.bits!;
  }
  const { sides, ...changes } = compared(old, now, noEvidence);
  const section = plainSection(changesSection(changes, { name: "a\u001b]0;b\u0007", sides }));
  assert.match(section.caption, /rescored 1 of 1 scores: bits mean/);
  assert.doesNotMatch(terminalSection(section, look), /[^\P{Cc}\n]|\u202e/u);
});

test("a score that is rejected now is rescored, without a mean", () => {
  const { rescored } = compared(made({ levels: [3, 3.1] }), made({ levels: [null, 3.1] }));
  assert.equal(rescored!.text, "rescored 1 of 2 scores: bits without two values");
});

test("the section shows each changed cell, old → new, with its causes and why nothing was tested", () => {
  const key = { stage: "score", words: "code changed: measure.py", old: "a".repeat(64), now: "b".repeat(64) };
  const [old, now] = [made({ levels: [3, 3.1] }), made({ levels: [2, 3.1] })];
  const { sides, ...changes } = compared(old, now, known({ old, now }, [key]));
  const section = changesSection(changes, { name: "an earlier run", sides });
  const text = terminalSection(section, { width: 160, color: false });
  assert.match(text, /^Compared with an earlier run\n1 cell: 1 changed, 0 equal; rescored 1 of 2 scores/);
  assert.match(text, /│ bits ↓ \* │ plain │ 3\.050 → 2\.550 │ +−0\.500 │ +2\/2 │\n/);
  assert.match(
    text,
    /^- letters, bits, plain: score: code changed: measure\.py \(aaaaaaaaaa → bbbbbbbbbb\) in 1 of 2/m,
  );
  assert.match(text, /^- letters, bits, plain: item noise not tested: measured in another way/m);
});

test("cells of one side only are listed by task, and no table is empty", () => {
  const one = made({ levels: [3, 3.1] });
  const empty: Side = { ...one, report: { ...one.report, cells: [], attempts: [] } };
  const { sides, ...changes } = compared(one, empty);
  const text = terminalSection(changesSection(changes, { name: "WHAT", sides }), {
    width: 100,
    color: false,
  });
  assert.equal(
    text,
    "Compared with WHAT\n1 cell: 1 removed, 0 equal.\n- letters, removed: plain bits 3.050 (2/2)\n",
  );
});
