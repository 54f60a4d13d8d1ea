import assert from "node:assert/strict";
import { test } from "node:test";
import { agentsExample, exampleAgents } from "../../testing/agents-example.ts";
import { attemptTimePart, timeSpentAt, timeSpentPart } from "./time-spent-part.ts";

const { report, times: known } = agentsExample();
const times = known!;

test("the parts of an agent's time add up to the mean wall time of the attempts whose parts are known", () => {
  const found = timeSpentAt(report, times, "letters");
  assert.deepEqual(
    found.map(({ agent, known, of }) => [agent, known, of]),
    [
      ["agent-a", 4, 5],
      ["agent-b", 5, 5],
      ["agent-c", 5, 5],
    ],
  );
  for (const { agent, total } of found) {
    const own = times.attempts.filter(
      (one) => one.task === "letters" && one.agent === agent && one.timeSpent,
    );
    const mean = own.reduce((sum, { wallSeconds }) => sum + wallSeconds!, 0) / own.length;
    assert.ok(Math.abs(total - mean) < 1e-6, agent);
  }
});

test("the figure says the shares and n in words, and is absent where no part is known", () => {
  assert.match(
    timeSpentPart(report, times).markup,
    /agent-a: 1 h \d m \(4 of 5\): model 20 %, programs 70 %, waits [12] %, other \d %/,
  );
  const bare = times.attempts.map(({ timeSpent: _, ...one }) => one);
  assert.equal(timeSpentPart(report, { ...times, attempts: bare }).markup, "");
  const [agent, ...others] = exampleAgents;
  const without = times.attempts.map((one) => (one.agent === agent ? { ...one, wallSeconds: null } : one));
  const left = timeSpentAt(report, { ...times, attempts: without }, "letters").map((one) => one.agent);
  assert.deepEqual(left, others, "an unknown wall time leaves all parts unknown");
});

test("an attempt has its own bar, and none where its parts are unknown", () => {
  const [unknown, one] = times.attempts;
  assert.equal(attemptTimePart(unknown!), false);
  const part = attemptTimePart(one!);
  assert.match(part ? part.markup : "", /agent-a: 1 h \d m \(1\): model 20 %, programs 70 %/);
});
