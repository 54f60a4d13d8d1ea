import assert from "node:assert/strict";
import { test } from "node:test";
import type { ObservedAttempt, Protocol, ProtocolObservation } from "@mlrb/formats/report/protocol";
import { departures } from "./departures.ts";
import { protocolSection, protocolText } from "./protocol-section.ts";

const frozenAt = "2026-05-02T00:00:00.000Z";
const later = "2026-05-03T00:00:00.000Z";
const early = "2026-05-01T00:00:00.000Z";

const scoreOf = (seed: number, scorer: string) =>
  `score[task=letters,agent=plain,seed=${seed},scorer=${scorer}]`;

const facts = {
  commit: "c".repeat(40),
  arms: [{ task: "letters", agent: "plain", seeds: [1, 2] }],
  tasks: [{ task: "letters", primary: "bits", metrics: ["bits", "pairs"] }],
  analysis: [{ name: "level", text: "0.05" }],
  definitions: [
    {
      ...{ stage: "score", role: "score", instances: [scoreOf(1, "bits"), scoreOf(2, "bits")] },
      parts: { "code measure.py": "1".repeat(64), environment: "e".repeat(64) },
    },
    { stage: "data", role: null, parts: { run: "make" }, instances: ["data[task=letters]"] },
  ],
};

const frozen: Protocol = {
  ...{ formatVersion: 1, pipeline: "small", profile: "smoke", selection: "", frozenAt },
  ...structuredClone(facts),
  ...{ before: [], replaced: [] },
};

function attempt(seed: number, more: Partial<ObservedAttempt> = {}): ObservedAttempt {
  return {
    ...{ task: "letters", agent: "plain", seed, used: { record: "a".repeat(64), startedAt: later } },
    ...{ missing: null, note: "", isImported: false, resumed: 0, extensions: 0 },
    ...{ decisions: [], others: [], ...more },
  };
}

function observed(change: (now: ProtocolObservation) => void = () => {}): ProtocolObservation {
  const now = {
    ...{ formatVersion: 1 as const, path: "protocols/small/smoke.json", ...structuredClone(facts) },
    ...{ attempts: [attempt(1), attempt(2)], earlier: [], committed: null },
  };
  change(now);
  return now;
}

/** `kind, where, when, primary: what`, one line each. */
function lines(now: ProtocolObservation, from = frozen): string[] {
  return departures(from, now).map(
    ({ kind, where, when, primary, what }) => `${kind} | ${where} | ${when} | ${primary} | ${what}`,
  );
}

test("a report that keeps to its protocol has no departure", () => {
  assert.deepEqual(lines(observed()), []);
});

test("an added and a removed seed are named with both n, once for each cell", () => {
  const now = observed(({ arms }) => {
    arms[0]!.seeds = [2, 3, 4];
    arms.push({ task: "letters", agent: "other", seeds: [1] });
  });
  assert.deepEqual(lines(now), [
    "added-attempt | letters, plain | null | yes | seeds 3, 4 added: n 2 → 3",
    "removed-attempt | letters, plain | null | yes | seed 1 removed: n 2 → 3",
    "added-attempt | letters, other | null | yes | seed 1 added: n 0 → 1",
  ]);
});

test("a changed scorer is one departure with both digests and every score that it made", () => {
  const now = observed(({ definitions }) => {
    definitions[0]!.parts["code measure.py"] = "2".repeat(64);
    definitions[0]!.instances.push(scoreOf(3, "bits")); // of an added seed
  });
  assert.deepEqual(lines(now), [
    `changed-stage | ${scoreOf(1, "bits")}; ${scoreOf(2, "bits")} | null | yes | score: code measure.py changed (1111111111 → 2222222222)`,
  ]);
});

test("a changed scorer that does not decide its task leaves the primary table, and unknown stages may change it", () => {
  const instances = [scoreOf(1, "pairs")];
  const definition = (parts: Record<string, string>) => ({ stage: "score", role: "score", parts, instances });
  const from = { ...frozen, definitions: [...frozen.definitions, definition({ run: "a" })] };
  const now = observed(({ definitions }) => {
    definitions.push(definition({ run: "b" }), {
      ...definition({ run: "x" }),
      stage: "extra",
      role: null,
      instances: ["extra"],
    });
    definitions.splice(1, 1); // data
  });
  assert.deepEqual(lines(now, from), [
    `changed-stage | ${instances[0]} | null | no | score: run changed (a → b)`,
    "changed-stage | extra | null | may | extra: stage added",
    "changed-plan | data | null | may | data: nothing was made by this stage",
  ]);
});

test("a new axis of a stage does not hide that its scores are made in another way", () => {
  const now = observed(({ definitions }) => {
    definitions[0]!.parts["code measure.py"] = "2".repeat(64);
    definitions[0]!.instances = [1, 2, 3].map((seed) => scoreOf(seed, "bits").replace("]", ",level=1]"));
  });
  const [one, two] = now.definitions[0]!.instances;
  assert.deepEqual(lines(now), [
    `changed-stage | ${one}; ${two} | null | yes | score: an instance added that was not planned`,
  ]);
});

test("a commit that changes no stage, such as that of the protocol itself, is no departure", () => {
  assert.deepEqual(lines(observed((one) => (one.commit = "d".repeat(40)))), []);
});

test("a changed primary metric and a changed test are departures", () => {
  const now = observed((one) => {
    one.tasks[0] = { task: "letters", primary: "pairs", metrics: ["pairs", "new"] };
    one.analysis[0]!.text = "0.1";
  });
  assert.deepEqual(lines(now), [
    "changed-metric | letters | null | yes | primary metric: bits → pairs",
    "changed-metric | letters | null | yes | no longer measured: bits",
    "changed-metric | letters | null | no | also measured: new",
    "changed-analysis |  | null | may | level: “0.05” → “0.1”",
  ]);
});

test("what happened to attempts is named with its place and its time", () => {
  const now = observed((one) => {
    one.attempts = [
      attempt(1, {
        ...{
          used: { record: "a".repeat(64), startedAt: early },
          isImported: true,
          note: "accepted as stale",
        },
        ...{ resumed: 1, extensions: 2 },
        decisions: [
          { rule: "time", verdict: "pass", by: "ann", decidedAt: later },
          { rule: "data", verdict: "fail", by: "ann", decidedAt: early },
        ],
        others: [{ kind: "lost", startedAt: early, cause: "stopped by ann" }],
      }),
      attempt(2, { used: null, missing: "its attempt failed" }),
    ];
  });
  const at = "letters, plain, seed 1";
  assert.deepEqual(lines(now), [
    `started-before | ${at} | ${early} | yes | started before the protocol was frozen`,
    `repeated-attempt | ${at} | ${early} | yes | another attempt, without a record, before the protocol was frozen, which the tables do not use: stopped by ann`,
    `resumed-attempt | ${at} | null | yes | resumed, once`,
    `extended-attempt | ${at} | null | yes | extended, 2 times; it leaves the primary tables`,
    `imported-attempt | ${at} | null | yes | made on another machine and imported`,
    `accepted-attempt | ${at} | null | yes | accepted as stale`,
    `adjudication | ${at} | ${later} | yes | ann decided pass on the rule time`,
    `adjudication | ${at} | ${early} | yes | ann decided fail on the rule data, before the protocol was frozen`,
    "missing-attempt | letters, plain, seed 2 | null | yes | missing: its attempt failed",
  ]);
});

test("an attempt that the protocol lists counts as earlier whatever its clock said, also after it was removed", () => {
  const place = { task: "letters", agent: "plain" };
  const from = {
    ...frozen,
    before: [
      { ...place, seed: 1, startedAt: later },
      { ...place, seed: 2, startedAt: early },
    ],
  };
  assert.deepEqual(lines(observed(), from), [
    `started-before | letters, plain, seed 1 | ${later} | yes | started before the protocol was frozen`,
    `started-before | letters, plain, seed 2 | ${early} | may | started before the protocol was frozen, and no longer here`,
  ]);
});

test("a protocol that replaces another one is a departure with the reason", () => {
  const replaced = [{ digest: "d".repeat(64), frozenAt: early, reason: "a typing error" }];
  assert.deepEqual(lines(observed(), { ...frozen, replaced }), [
    `replaced-protocol |  | ${frozenAt} | may | the protocol dddddddddd of ${early} was replaced: a typing error`,
  ]);
});

test("a protocol that was here before and that this one does not name is a departure, and a named one is not twice", () => {
  const earlier = { frozenAt: early, seen: "this state folder" };
  const now = observed((one) => {
    one.earlier = ["d", "e"].map((letter) => ({ ...earlier, digest: letter.repeat(64) }));
  });
  const replaced = [{ digest: "d".repeat(64), frozenAt: early, reason: "a typing error" }];
  assert.deepEqual(lines(now, { ...frozen, replaced }).slice(1), [
    `earlier-protocol |  | ${early} | may | another protocol, eeeeeeeeee of ${early} (seen in this state folder), is not named as replaced`,
  ]);
});

test("the paragraph says none where there is no departure, and how many touch the primary table", () => {
  const found = (list: ReturnType<typeof departures>, before = 0) => ({
    ...({ kind: "frozen", path: "protocols/small/smoke.json", digest: "d".repeat(64), frozenAt } as const),
    ...{ selection: "", commit: null, before, departures: list, committed: null },
  });
  assert.equal(
    protocolText(found([])),
    `The protocol was frozen at ${frozenAt} by this machine's clock, before any attempt (digest dddddddddd, commit unknown). Departures: none. No Git commit here is known to hold its file.`,
  );
  const some = departures(
    frozen,
    observed((one) => one.tasks[0]!.metrics.push("new")),
  );
  assert.match(
    protocolText(found(some, 2)),
    /after 2 attempts .* Departures: 1, of which 0 change or may change/,
  );
  const one = [{ ...some[0]!, primary: "yes" as const }];
  assert.match(
    protocolText(found(one, 1)),
    /after 1 attempt had .* Departures: 1, of which 1 changes or may change/,
  );
  assert.equal(protocolSection(found(some)).tables[0]!.groups[0]!.rows.length, 1);
  assert.match(
    protocolText({ kind: "none", freeze: "freeze it" }),
    /^No protocol was frozen\. .*`freeze it`/,
  );
});
