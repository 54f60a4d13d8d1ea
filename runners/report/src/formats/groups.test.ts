import assert from "node:assert/strict";
import { test } from "node:test";
import { Example, passed, rejectedScore, scored, verdict } from "../testing/example.ts";
import { groupMeans, groupsMarkdown } from "./groups.ts";

type Groups = Record<string, number[]>;

/** The report of attempts of which each answered these groups' items so, or failed. */
function answered(agents: Record<string, (Groups | "disqualified" | "rejected")[]>) {
  const example = new Example();
  for (const [agent, attempts] of Object.entries(agents)) {
    for (const [index, fate] of attempts.entries()) {
      const axes = { task: "letters", agent, seed: index + 1 };
      const groups = typeof fate === "string" ? { a: [1] } : fate;
      const items = Object.entries(groups).flatMap(([group, values]) =>
        values.map((value, item) => ({ id: `${group}${item}`, value, weight: 1, group })),
      );
      example
        .gives("attempt", axes, { submission: `sha256:${agent}${index}` })
        .gives("validate", axes, fate === "disqualified" ? verdict("disqualified") : passed)
        .gives(
          "score",
          { ...axes, scorer: "pairs" },
          fate === "rejected" ? rejectedScore("pairs", "ties") : scored("pairs", items),
        );
    }
  }
  return example.report();
}

test("a group's mean is over attempts, not over items, and groups are sorted by name", () => {
  const means = groupMeans(
    answered({
      plain: [
        { b: [1, 0], a: [1] },
        { a: [0, 0, 0], b: [1, 1] },
      ],
    }),
  );
  assert.deepEqual(
    means.map(({ name, items, agents }) => [name, items, agents[0]!.mean, agents[0]!.attempts]),
    [
      ["a", null, 0.5, 2], // 1 and 0, of one item and of three
      ["b", 2, 0.75, 2],
    ],
  );
});

test("failed attempts do not enter a group's mean, and the count of attempts shows that", () => {
  const report = answered({ plain: [{ a: [0.5] }, "disqualified", "rejected"], strong: ["disqualified"] });
  assert.deepEqual(groupMeans(report)[0]!.agents, [
    { agent: "plain", attempts: 1, planned: 3, mean: 0.5 },
    { agent: "strong", attempts: 0, planned: 1, mean: null },
  ]);
  assert.match(groupsMarkdown(report), /\| a \| 1 \| 0\.500 \(1\/3\) \| – \(0\/1\) \|/);
});

test("a group may have the name of a property of every object", () => {
  const means = groupMeans(answered({ plain: [{ constructor: [1] }], strong: [{ other: [1] }] }));
  assert.deepEqual(
    means.map(({ name, agents }) => [name, ...agents.map(({ mean }) => mean)]),
    [
      ["constructor", 1, null],
      ["other", null, 1],
    ],
  );
});

test("groups.md states that no score has groups", () => {
  const text = groupsMarkdown(answered({ plain: [{}] }));
  assert.match(text, /No valid score has groups\./);
  assert.match(text, /Smoke test on toy data/);
});
