import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { Collected, Member } from "@mlrb/formats/stage/collected";
import { markdownSection } from "../formats/markdown.ts";
import { researched } from "../testing/example.ts";
import { times, timesSection } from "./times.ts";

const member = (agent: string, seed: number, ledger: boolean): Member => ({
  stage: `attempt[task=t,agent=${agent},seed=${seed}]`,
  name: "attempt",
  role: "attempt",
  axes: { task: "t", agent, seed },
  outcome: ledger ? "succeeded" : "failed",
  cause: "",
  artifacts: ledger ? { ledger: { digest: "d", kind: "file", path: `${agent}${seed}` } } : {},
});
const ledger = {
  wallMs: 12_345,
  workingMs: 12_000,
  budget: { wallMs: 600_000 },
  ended: "finished",
  tokens: null,
};
const collected: Collected = {
  formatVersion: 1,
  members: [member("b", 10, true), member("b", 2, true), member("a", 1, false)],
};
const unread = {
  read: () => ({ kind: "unreadable" as const, cause: "ENOENT" }),
  direction: () => undefined,
};
const readLedger = (path: string) => (path === "b2" ? "not a ledger" : (ledger as unknown as Ledger));

test("an attempt without a readable ledger has an unknown time, not zero", () => {
  const { attempts } = times(collected, { label: "smoke", readLedger, ...unread });
  assert.deepEqual(
    attempts.map(({ agent, seed, wallSeconds, tokens }) => [agent, seed, wallSeconds, tokens]),
    [
      ["a", 1, null, null],
      ["b", 2, null, null],
      ["b", 10, 12.3, null],
    ],
  );
});

test("the table names its machine and the profile smoke", () => {
  const text = markdownSection(timesSection(times(collected, { label: "smoke", readLedger, ...unread })));
  assert.match(text, /Time and cost of each attempt \(smoke\)/);
  assert.match(text, /\| t \| b \| 10 \| 12\.3 \| 600 \| 98 \| finished \|/);
  assert.match(text, /\| t \| a \| 1 \| unknown \| unknown \| unknown \| unknown \|/);
});

test("an attempt whose provider searched without a network has a mark, a footnote and a column", () => {
  const reached = { calls: 2, what: ["url_citation", "a|b"] };
  const found = times(collected, {
    label: "smoke",
    readLedger: (path) => ({ ...ledger, usage: path === "b10" ? { reached } : null }) as unknown as Ledger,
    ...unread,
  });
  const words = "without a network, 2 answers show searches or tools of the provider";
  const text = markdownSection(timesSection(found));
  assert.match(text, /\| b \| 10¶ \|/);
  assert.match(text, /\| b \| 2 \|/);
  assert.ok(text.includes(`t, b 10`) && text.includes(`¶ ${words}`), text);
  assert.equal(found.attempts[2]!.reached, `${words} (url_citation, a|b)`);
});

test("a model that changed during an attempt has a mark and a footnote, one that changed between attempts a footnote", () => {
  const of = (answeredBy: string, calls: number) => ({ provider: "p", model: "alias", answeredBy, calls });
  const found = times(collected, {
    label: "smoke",
    readLedger: (path) =>
      ({
        ...ledger,
        usage: { served: path === "b10" ? [of("alias-1", 2), of("alias-2", 1)] : [of("alias-1", 5)] },
      }) as unknown as Ledger,
    ...unread,
  });
  const text = markdownSection(timesSection(found));
  assert.match(text, /\| b \| 10‖ \|/);
  assert.match(text, /\| b \| 2 \|/);
  const during =
    "the model or its configuration changed during the attempt: alias as alias-1 (2 calls), alias-2 (1 call)";
  const between = "differs between calls of this agent: alias as alias-1 (7 calls), alias-2 (1 call)";
  assert.ok(text.includes(during) && text.includes(between), text);
});

test("attempts that one model answered have no mark and no footnote", () => {
  const served = [{ provider: "p", model: "alias", answeredBy: "alias-1", fingerprint: "fp", calls: 2 }];
  const found = times(collected, {
    label: "smoke",
    readLedger: () => ({ ...ledger, usage: { served } }) as unknown as Ledger,
    ...unread,
  });
  assert.doesNotMatch(markdownSection(timesSection(found)), /‖|alias/);
});

const spent = { ...ledger, tokens: 1_200_000, dollars: 43.5, gpuHours: 0 } as unknown as Ledger;
const paid = times(collected, {
  label: "official",
  readLedger: (path) => (path === "b2" ? "none" : spent),
  ...unread,
});

for (const [file, text] of Object.entries({
  "times.md": markdownSection(timesSection(paid)),
})) {
  test(`times and cost are, byte for byte, golden/${file}`, () => {
    const path = join(import.meta.dirname, "../..", "golden", file);
    if (process.env.UPDATE_GOLDEN) writeFileSync(path, text);
    assert.equal(text, readFileSync(path, "utf8"));
  });
}

test("the peak of GPU memory has a column where an attempt's ledger has one, and older ledgers show nothing", () => {
  const of = (more: object) => {
    const readLedger = () => ({ ...spent, gpuHours: 0.5, ...more }) as Ledger;
    const found = times(collected, { label: "official", readLedger, ...unread });
    return markdownSection(timesSection(found));
  };
  const text = of({ gpuMemoryPeakMiB: 38_912 });
  assert.match(text, /\| GPU hours \| peak GPU memory, GiB \| unused, % \|/);
  assert.match(text, /\| 0\.50 \| 38\.0 \| 98 \|/);
  assert.doesNotMatch(of({}), /MiB|GiB/);
});

test("a cost has a column if an attempt had one, and unknown is not zero", () => {
  const text = markdownSection(timesSection(paid));
  assert.match(text, /\| budget, s \| tokens \| dollars \| unused, % \| ended \|/);
  assert.match(text, /\| t \| b \| 10 \| 12\.3 \| 600 \| 1200000 \| 43\.50 \| 98 \| finished \|/);
  assert.match(text, /\| t \| b \| 2 \| unknown \| unknown \| unknown \| unknown \| unknown \| unknown \|/);
});

test("working time has a column where waits reduced it, and busy GPUs where they were measured, even at 0", () => {
  const of = (changes: object) => {
    const readLedger = () => ({ ...spent, gpuHours: 0.5, ...changes }) as Ledger;
    return markdownSection(timesSection(times(collected, { label: "smoke", readLedger, ...unread })));
  };
  assert.doesNotMatch(of({ gpuBusyMs: null }), /working|busy/i);
  const text = of({ wallMs: 20_000, gpuBusyMs: 0 });
  assert.match(
    text,
    /\| time, s \| budget, s \| working, s \| tokens \| dollars \| GPU hours \| GPU busy, % \| unused, % \| ended \|/,
  );
  assert.match(
    text,
    /\| b \| 10 \| 20\.0 \| 600 \| 12\.0 \| 1200000 \| 43\.50 \| 0\.50 \| 0 \| 98 \| finished \|/,
  );
  assert.match(of({ gpuBusyMs: 900_000 }), /\| 0\.50 \| 50 \| 98 \| finished \|/, "half of half an hour");
});

test("long times are in hours and many tokens in millions, and the CSV file keeps seconds and tokens", () => {
  const long = { ...spent, wallMs: 86_000_000, budget: { wallMs: 86_400_000 }, tokens: 12_345_678 };
  const found = times(collected, { label: "official", readLedger: () => long as Ledger, ...unread });
  const text = markdownSection(timesSection(found));
  assert.match(text, /\| time, h \| budget, h \|.* tokens, million \|/);
  assert.match(text, /\| 23\.9 \| 24\.0 \|.* 12\.3 \|/);
});

test("an unknown time is null, never 0", () => {
  const [unknown, , known] = times(collected, { label: "smoke", readLedger, ...unread }).attempts;
  for (const field of ["wallSeconds", "workingSeconds", "tokens", "dollars", "gpuHours"] as const)
    assert.equal(unknown![field], null);
  assert.deepEqual([known!.wallSeconds, known!.workingSeconds, known!.unusedShare], [12.3, 12, 0.98]);
});

test("the best value so far, and the time since it improved, follow the direction of the metric", () => {
  const iterations: Member = {
    ...member("b", 10, true),
    name: "iterations",
    role: "iterations",
    artifacts: { iterations: { digest: "i", kind: "file", path: "i" } },
  };
  const values = [3, 2, 2.5, 1].map((value, at) => ({ value, sinceStartMs: at * 3000, predicted: null }));
  const text = JSON.stringify(
    researched({ metric: { name: "bits-per-byte", split: "dev" }, values }).iterations,
  );
  const found = times(
    { formatVersion: 1, members: [member("b", 10, true), iterations] },
    { label: "smoke", readLedger, read: () => ({ kind: "ok", value: text }), direction: () => "lower" },
  );
  const [attempt] = found.attempts;
  assert.deepEqual(attempt!.bestSoFar, [
    { seconds: 0, value: 3 },
    { seconds: 3, value: 2 },
    { seconds: 9, value: 1 },
  ]);
  assert.equal(attempt!.sinceImprovementSeconds, 3.3);
});

test("the parts of the time come from iterations, and are unknown in files of earlier versions", () => {
  const iterations: Member = {
    ...member("b", 10, true),
    ...{ name: "iterations", role: "iterations" },
    artifacts: { iterations: { digest: "i", kind: "file", path: "i" } },
  };
  const of = (measures: object) =>
    times(
      { formatVersion: 1, members: [member("b", 10, true), iterations] },
      {
        ...{ label: "smoke", readLedger, direction: () => "lower" },
        read: () => ({ kind: "ok", value: JSON.stringify(researched({ ...measures }).iterations) }),
      },
    ).attempts[0]!.timeSpent;
  assert.deepEqual(of({ timeSpent: { waitMs: 100, modelMs: 7260, programMs: 4000 } }), {
    ...{ waitSeconds: 0.1, modelSeconds: 7.3, programSeconds: 4 },
  });
  assert.equal(of({}), undefined);
});

test("time to the first valid snapshot and gain per hour have columns where iterations give them", () => {
  const found = (values: [number, number][], metric = "bits-per-byte") =>
    JSON.stringify(
      researched({
        firstValidMs: 61_234,
        metric: { name: metric, split: "dev" },
        values: values.map(([value, hours]) => ({
          value,
          sinceStartMs: hours * 3_600_000,
          predicted: null,
        })),
      }).iterations,
    );
  const of = (text: string) => {
    const iterations: Member = {
      ...member("b", 10, true),
      name: "iterations",
      role: "iterations",
      artifacts: { iterations: { digest: "i", kind: "file", path: "i" } },
    };
    const { attempts } = times(
      { formatVersion: 1, members: [member("b", 10, true), iterations] },
      {
        label: "smoke",
        readLedger,
        read: () => ({ kind: "ok", value: text }),
        direction: (scorer) => (scorer === "bits-per-byte" ? "lower" : undefined),
      },
    );
    return [attempts[0]!.firstValidSeconds, attempts[0]!.improvementPerHour];
  };
  assert.deepEqual(
    of(
      found([
        [3, 1],
        [2, 2],
        [2.5, 5],
      ]),
    ),
    [61.2, 0.25],
    "best minus first, over four hours",
  );
  assert.deepEqual(
    of(
      found(
        [
          [0.5, 1],
          [0.7, 2],
        ],
        "accuracy",
      ),
    ),
    [61.2, null],
    "no scorer of that name says what is better",
  );
  assert.deepEqual(of(found([[3, 1]])), [61.2, null], "one value is no gain");
  const within = [
    [3, 1],
    [2, 1 + 1 / 120],
  ] as [number, number][];
  assert.deepEqual(of(found(within)), [61.2, null], "a gain within seconds is not scaled to an hour");
  assert.deepEqual(of("{"), [null, null]);
});
