import assert from "node:assert/strict";
import { test } from "node:test";
import type { Departure, ProtocolFacts, ProtocolObservation } from "@mlrb/formats/report/protocol";
import { departures } from "./departures.ts";
import { protocolSection, protocolText } from "./protocol-section.ts";

const digest = "d".repeat(64);

const scoreOf = (seed: number, scorer: string) =>
  `score[task=letters,agent=plain,seed=${seed},scorer=${scorer}]`;

const facts = {
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

const frozen: ProtocolFacts & { digest: string } = { ...structuredClone(facts), digest };

function observed(change: (now: ProtocolObservation) => void = () => {}): ProtocolObservation {
  const now: ProtocolObservation = {
    ...{ formatVersion: 1, path: "protocols/small/smoke.json", ...structuredClone(facts) },
    started: [1, 2].map((seed) => ({ where: `letters, plain, seed ${seed}`, protocol: digest })),
    happened: [],
  };
  change(now);
  return now;
}

/** `kind | where | primary | what`, one line each. */
function lines(now: ProtocolObservation, from = frozen): string[] {
  return departures(from, now).map(
    ({ kind, where, primary, what }) => `${kind} | ${where} | ${primary} | ${what}`,
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
    "added-attempt | letters, plain | yes | seeds 3, 4 added: n 2 → 3",
    "removed-attempt | letters, plain | yes | seed 1 removed: n 2 → 3",
    "added-attempt | letters, other | yes | seed 1 added: n 0 → 1",
  ]);
});

test("a changed scorer is one departure with both digests and every score that it made", () => {
  const now = observed(({ definitions }) => {
    definitions[0]!.parts["code measure.py"] = "2".repeat(64);
    definitions[0]!.instances.push(scoreOf(3, "bits")); // of an added seed
  });
  assert.deepEqual(lines(now), [
    `changed-stage | ${scoreOf(1, "bits")}; ${scoreOf(2, "bits")} | yes | score: code measure.py changed (1111111111 → 2222222222)`,
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
    `changed-stage | ${instances[0]} | no | score: run changed (a → b)`,
    "changed-stage | extra | may | extra: stage added",
    "changed-plan | data | may | data: nothing was made by this stage",
  ]);
});

test("a new axis of a stage does not hide that its scores are made in another way", () => {
  const now = observed(({ definitions }) => {
    definitions[0]!.parts["code measure.py"] = "2".repeat(64);
    definitions[0]!.instances = [1, 2, 3].map((seed) => scoreOf(seed, "bits").replace("]", ",level=1]"));
  });
  const [one, two] = now.definitions[0]!.instances;
  assert.deepEqual(lines(now), [
    `changed-stage | ${one}; ${two} | yes | score: an instance added that was not planned`,
  ]);
});

test("a changed primary metric and a changed test are departures", () => {
  const now = observed((one) => {
    one.tasks[0] = { task: "letters", primary: "pairs", metrics: ["pairs", "new"] };
    one.analysis[0]!.text = "0.1";
  });
  assert.deepEqual(lines(now), [
    "changed-metric | letters | yes | primary metric: bits → pairs",
    "changed-metric | letters | yes | no longer measured: bits",
    "changed-metric | letters | no | also measured: new",
    "changed-analysis |  | may | level: “0.05” → “0.1”",
  ]);
});

test("attempts under another protocol, and without one, are counted with the digest", () => {
  const at = (seed: number) => `letters, plain, seed ${seed}`;
  const other = "e".repeat(64);
  const now = observed((one) => {
    one.started = [other, null, other, digest, other, other].map((protocol, index) => ({
      ...{ where: at(index), protocol },
    }));
  });
  assert.deepEqual(lines(now), [
    `other-protocol | ${at(0)}; ${at(2)}; ${at(4)}; and 1 more | yes | 4 attempts started under another protocol, eeeeeeeeee`,
    `other-protocol | ${at(1)} | yes | 1 attempt started without a protocol`,
  ]);
});

test("what happened to attempts is listed between the plan's departures and those of metrics", () => {
  const happened: Departure = { kind: "resumed-attempt", where: "x", primary: "yes", what: "resumed, once" };
  const now = observed((one) => {
    one.arms[0]!.seeds.push(3);
    one.tasks[0]!.metrics.push("new");
    one.happened = [happened];
  });
  assert.deepEqual(
    departures(frozen, now).map(({ kind }) => kind),
    ["added-attempt", "resumed-attempt", "changed-metric"],
  );
});

test("the paragraph counts the attempts before which it was frozen, and the departures that touch the primary table", () => {
  const found = (list: Departure[], before = 2) => ({
    ...({ kind: "frozen", path: "protocols/small/smoke.json", digest, selection: "" } as const),
    ...{ attempts: 2, before, departures: list },
  });
  assert.equal(
    protocolText(found([])),
    "The protocol was frozen before 2 of 2 attempts (digest dddddddddd). Departures: none.",
  );
  const some = departures(
    frozen,
    observed((one) => one.tasks[0]!.metrics.push("new")),
  );
  assert.match(
    protocolText(found(some, 0)),
    /frozen before 0 of 2 attempts .* Departures: 1, of which 0 change or may change/,
  );
  const one = [{ ...some[0]!, primary: "yes" as const }];
  assert.match(protocolText(found(one)), /Departures: 1, of which 1 changes or may change/);
  assert.equal(protocolSection(found(some)).tables[0]!.groups[0]!.rows.length, 1);
  assert.match(
    protocolText({ kind: "none", freeze: "freeze it" }),
    /^No protocol was frozen\. .*`freeze it`/,
  );
});
