// The PyPI package `atif` reads the document and refuses unknown keys. It accepts dangling references to
// sub-agents, so these tests look for them.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import {
  everyEvent,
  exampleAttempt,
  exampleScore,
  modelCall,
  teamEvents,
  toolResult,
} from "../testing/attempt-example.ts";
import { exportReader, readBack } from "../testing/export-reader.ts";
import { atifLinkProblems } from "../testing/parent-links.ts";
import { atif } from "./atif.ts";
import type { AttemptSource } from "./attempt-source.ts";

const { python, skip } = await exportReader();
const folder = mkdtempSync(join(tmpdir(), "mlrb-atif-"));
after(() => rmSync(folder, { recursive: true, force: true }));

// biome-ignore lint/suspicious/noExplicitAny: the document is in another project's format
type Any = any;

const validate = `
import json, sys
from atif import Trajectory
print(json.dumps([Trajectory.model_validate(json.load(open(path))).to_json_dict() for path in sys.argv[1:]]))
`;

function written(source: AttemptSource): Any {
  return JSON.parse([...atif(source)].join(""));
}

function validated(documents: Any[]): Any[] {
  const paths = documents.map((document, at) => {
    const path = join(folder, `${at}.json`);
    writeFileSync(path, JSON.stringify(document));
    return path;
  });
  return readBack(python!, validate, paths) as Any[];
}

/** Without what the validator leaves out: fields that are null. */
function filled(value: Any): Any {
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== null)
      .map(([name, one]) => [name, filled(one)]),
  );
}

/** Names of sub-agents that are referred to, in every step of every trajectory. */
function references({ steps, subagent_trajectories: workers = [] }: Any): string[] {
  const own = steps.flatMap(({ observation }: Any) =>
    (observation?.results ?? []).flatMap(({ subagent_trajectory_ref: to = [] }: Any) =>
      to.map(({ trajectory_id: id }: Any) => id),
    ),
  );
  return [...own, ...workers.flatMap(references)];
}

const attachments = new Map<string, string>();
const everything = () =>
  exampleAttempt(after, everyEvent(attachments), {
    attachments,
    scores: { verdict: "pass", primary: "loss", final: [exampleScore("loss")], checkpoints: [] },
  });

test("an export with every kind of event is valid ATIF and loses no field", { skip }, () => {
  const ours = written(everything());
  const team = written(exampleAttempt(after, teamEvents()));
  const [theirs, theirTeam] = validated([ours, team]);
  assert.deepEqual(filled(theirs), filled(ours));
  assert.deepEqual(filled(theirTeam), filled(team));
});

test("each member of a team is a trajectory that the team's refers to, with its own workers", () => {
  const ours = written(exampleAttempt(after, teamEvents()));
  assert.deepEqual(references(ours), ["lead", "coder", "checker", "checker/worker-1"]);
  const [lead, coder, checker] = ours.subagent_trajectories;
  assert.deepEqual(
    [lead, coder, checker].map(({ agent, extra }: Any) => [agent.name, extra]),
    [
      ["thinker/lead", { preset: "thinker", kind: "llm" }],
      ["thinker/coder", { preset: "script", kind: "command" }],
      ["thinker/checker", { preset: "thinker", kind: "llm" }],
    ],
  );
  const resultsOf = ({ steps }: Any) =>
    steps.flatMap(({ observation }: Any) => (observation?.results ?? []).map(({ content }: Any) => content));
  assert.deepEqual(resultsOf(lead), ["of the lead"]);
  assert.deepEqual(resultsOf(coder), ["half a line\n"]);
  assert.deepEqual(resultsOf(checker), ["of the checker", undefined]);
  assert.deepEqual(resultsOf(ours), [undefined, undefined, undefined, "of no member\n"]);
  const sent = coder.steps.find(({ message }: Any) => message === "board");
  assert.deepEqual([sent.extra.to, sent.extra.text], ["all", "done"]);
  assert.equal(ours.final_metrics.extra.all_conversations.total_prompt_tokens, 200);
});

test("references of every kind of attempt resolve, and each event of a member lies in its trajectory", () => {
  const hostile = { lead: "lead/agent\u001b[2J</script>", text: `\u001b]0;title\u0007${"x".repeat(16_000)}` };
  const forgedName = teamEvents({ lead: "checker/worker-1" });
  const start = exampleEvent("start");
  const sources = [
    everything(),
    exampleAttempt(after, [start, modelCall(1), exampleEvent("resumed"), modelCall(2, { by: "two" })]),
    ...[teamEvents(), teamEvents(hostile), forgedName, teamEvents().slice(9)].map((one) =>
      exampleAttempt(after, one),
    ),
  ];
  for (const source of sources) assert.deepEqual(atifLinkProblems(written(source)), []);
  const problemsOf = (forge: (document: Any) => void) => {
    const document = written(exampleAttempt(after, teamEvents()));
    forge(document);
    return atifLinkProblems(document).join("; ");
  };
  assert.match(
    problemsOf((one) => one.subagent_trajectories.pop()),
    /refers to lead,coder,checker, but holds lead,coder$/,
  );
  assert.match(
    problemsOf(({ subagent_trajectories: [lead, coder] }) => coder.steps.push(lead.steps[0])),
    /step 1 of lead lies in coder/,
  );
  assert.match(
    problemsOf((one) => Object.assign(one.subagent_trajectories[0], { trajectory_id: one.trajectory_id })),
    /is there twice/,
  );
});

test("a worker is a separate trajectory, referenced by the call that began it", () => {
  const ours = written(everything());
  assert.deepEqual(
    ours.subagent_trajectories.map(({ trajectory_id: id }: Any) => id),
    ["worker-1"],
  );
  assert.deepEqual(references(ours), ["worker-1"]);
  const delegating = ours.steps.find(({ tool_calls: calls }: Any) => calls?.[0].function_name === "delegate");
  assert.deepEqual(
    delegating.observation.results.map(({ source_call_id: id, subagent_trajectory_ref: to }: Any) => [
      id,
      to?.[0].trajectory_id,
    ]),
    [
      ["c2", undefined],
      ["c1", "worker-1"],
    ],
  );
  const [worker] = ours.subagent_trajectories;
  assert.equal(worker.steps[1].observation.results[0].content, "step ".repeat(9000));
  assert.equal(worker.steps[0].message, "Do it.");
  assert.equal("total_cost_usd" in worker.final_metrics, false, "an unknown price is not 0");
});

test("a worker that no call began is referenced where it began", () => {
  const ours = written(
    exampleAttempt(after, [
      exampleEvent("start"),
      modelCall(1, { by: "one" }),
      modelCall(2, { by: "two" }),
      exampleEvent("end"),
    ]),
  );
  assert.deepEqual(references(ours), ["two"]);
  assert.equal(ours.steps.at(-2).message, "two began");
});

test("events during a tool call follow the step that made the call, and a late result is kept", () => {
  const events: TrajectoryEvent[] = [
    exampleEvent("start"),
    modelCall(1, {
      toolCalls: [{ id: "a", name: "shell", input: "{}", malformed: false }],
      finish: "tool-calls",
    }),
    { event: "tool-call", by: "agent", id: "a", name: "shell", input: "{}" },
    exampleEvent("snapshot", { name: "0001" }),
    toolResult("a"),
    toolResult("a", { text: "again" }),
    exampleEvent("end"),
  ];
  const { steps } = written(exampleAttempt(after, events));
  assert.deepEqual(
    steps.map(({ message, observation }: Any) => [message, observation?.results.length]),
    [
      ["start", undefined],
      ["I shall look.", 1],
      ["snapshot", undefined],
      ["shell gave", 1],
      ["end", undefined],
    ],
  );
});

test("exports of damaged, lost and running attempts are valid and name what is missing", {
  skip,
}, () => {
  const program: TrajectoryEvent[] = [
    exampleEvent("start", { kind: "command" }),
    { event: "exec", argv: ["python", "agent.py"] },
    { event: "output", stream: "stdout", text: "a\ud800" },
    { event: "output", stream: "stdout", text: "b" },
    { event: "output", stream: "stderr", text: "c" },
    { event: "exec-end", result: { kind: "exited", code: 0 } },
    exampleEvent("end"),
  ];
  const noLedger = { ledger: { read: null, why: "it has no ledger" } } as const;
  const documents = [
    exampleAttempt(after, program),
    exampleAttempt(after, [exampleEvent("start", { kind: "nop" }), exampleEvent("end")]),
    exampleAttempt(after, program.slice(0, 4), { tail: '{"eve', ...noLedger }),
    exampleAttempt(after, program.slice(0, 4), { state: "running", ...noLedger }),
    exampleAttempt(after, program.slice(0, 4), { state: "lost", ...noLedger }),
    exampleAttempt(after, [], noLedger),
    exampleAttempt(after, [{ event: "dream", of: 1 } as never]),
  ].map(written);
  assert.equal(validated(documents).length, 7);
  assert.deepEqual(
    documents.map(({ extra }) => extra.incomplete),
    [
      null,
      null,
      "line 5: it is cut off in the middle of a line",
      "running",
      "lost",
      "line 1: it is empty",
      "the trajectory has no end",
    ],
  );
  assert.deepEqual(
    documents[0].steps.map(({ message, observation }: Any) => [message, observation?.results[0].content]),
    [
      ["start", undefined],
      ["", undefined],
      ["the program wrote to stdout", "a\ufffdb"],
      ["the program wrote to stderr", "c"],
      ["exec-end", undefined],
      ["end", undefined],
    ],
  );
});

test("an export of twenty thousand events holds at most one step at a time", { skip }, () => {
  const many: TrajectoryEvent[] = [exampleEvent("start")];
  for (let call = 1; call <= 10_000; call++)
    many.push(modelCall(call), { event: "note", by: "agent", text: "x".repeat(200) });
  many.push(exampleEvent("end"));
  const source = exampleAttempt(after, many);
  let largest = 0;
  for (const piece of atif(source)) largest = Math.max(largest, piece.length);
  assert.ok(largest < 20_000, `a piece of ${largest}`);
  assert.equal(validated([written(source)])[0].steps.length, 20_002);
});
