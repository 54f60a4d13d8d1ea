import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@mlrb/core/statistics/random";
import { agentsExample } from "../../testing/agents-example.ts";
import { intervalOverTasks, rankedData } from "./ranked-data.ts";

const { report } = agentsExample();

test("agents are ranked by their mean over tasks, the best first, with the difference to the best", () => {
  const ranked = rankedData(report);
  assert.deepEqual(
    ranked.map(({ agent }) => agent),
    ["agent-b", "agent-a", "agent-c"],
  );
  assert.match(ranked[0]!.note, /^95 % \d\.\d\d to \d\.\d\d; mean over 2 of 2 tasks$/);
  assert.match(ranked[1]!.note, /^95 % .*; −0\.28 to agent-b, 2 of 2 tasks, no interval: too few attempts$/);
  assert.match(ranked[1]!.words, /agent-b minus agent-a over 2 of 2 tasks: \+0\.28/);
});

test("an agent with a failed or missing attempt has no interval, as at single tasks", () => {
  const [best, , worst] = rankedData(report);
  assert.ok(best!.interval![0] < best!.score && best!.score < best!.interval![1]);
  assert.equal(worst!.interval, null);
});

test("an agent whose mean covers other tasks is not ranked", () => {
  const agents = report.acrossTasks.agents.map((one) =>
    one.agent === "agent-b" ? { ...one, tasks: ["letters"] } : one,
  );
  const ranked = rankedData({ ...report, acrossTasks: { ...report.acrossTasks, agents } });
  assert.deepEqual(
    ranked.map(({ agent }) => agent),
    ["agent-a", "agent-c"],
  );
});

test("the interval of a mean over tasks contains the true mean in at least 93 of 100 runs", () => {
  const random = seededRandom(7);
  const [task, other] = report.acrossTasks.tasks;
  const runs = 2000;
  let inside = 0;
  for (let run = 0; run < runs; run++) {
    const cells = report.cells.map((cell) => ({
      ...cell,
      // spreads that differ between the tasks, of five attempts each
      normalised: cell.normalised.map(() => (cell.task === task!.task ? 1 : 0.2) * random.normal()),
    }));
    const tasks = [task!, other!];
    const interval = intervalOverTasks(
      { ...report, cells, acrossTasks: { ...report.acrossTasks, tasks } },
      "agent-b",
    );
    if (interval![0] <= 0 && 0 <= interval![1]) inside++;
  }
  assert.ok(inside / runs >= 0.93 && inside / runs < 0.985, String(inside / runs));
});
