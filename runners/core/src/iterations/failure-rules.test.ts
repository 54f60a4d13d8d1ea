import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Failure } from "@mlrb/formats/attempt/iterations";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { FactsReader } from "./attempt-facts.ts";
import { failuresOf } from "./failure-rules.ts";
import { events, model, story } from "./testing/story.ts";
import { type EventPlace, TimedEvents } from "./timed-event.ts";

type Lines = Parameters<typeof story>[0];
const patterns = (lines: Lines, budgetS?: number) =>
  story(lines, budgetS).failures.map(({ pattern }) => pattern);
const has = (pattern: string, lines: Lines, budgetS?: number) =>
  assert.ok(
    patterns(lines, budgetS).includes(pattern),
    `${pattern} is not among ${patterns(lines, budgetS)}`,
  );
const lacks = (pattern: string, lines: Lines, budgetS?: number) =>
  assert.ok(!patterns(lines, budgetS).includes(pattern), `${pattern} is among them`);

const shell = (s: number, command: string, more: object = {}) => ({
  s,
  tool: "shell",
  command,
  took: 1,
  out: "",
  ...more,
});
const edit = (s: number) => ({ s, tool: "edit_file", path: "train.py" });
const handed = (s: number, digest = "1") => ({ s, handed: model, digest });
const final = (s: number, more: object = {}) => ({ s, final: model, digest: "1", ...more });
const end = (s: number, ended = "finished") => ({ s, end: ended });
const round = (s: number, out: string, digest: string) => [
  edit(s),
  shell(s + 1, "python train.py && python eval.py", { out }),
  handed(s + 3, digest),
];
const modelTry = (whose: string, waitMs: number | null) => ({
  s: 1,
  event: "model-try",
  by: "agent",
  whose,
  cause: "rate-limit",
  waitMs,
});

describe("what is not the agent's", () => {
  test("a model call that was given up is its owner's failure, at no stage of research", () => {
    for (const whose of ["provider", "operator", "harness", "sandbox"]) {
      const { failure } = story([modelTry(whose, null), end(2, "agent-error")]);
      assert.deepEqual([failure?.whose, failure?.where], [whose, "cannot-tell"]);
    }
  });

  test("a series of failed tries that ended in an answer is no failure", () => {
    lacks("call-given-up", [modelTry("provider", 1000), { s: 2, says: "hello" }]);
    lacks("call-given-up", [modelTry("provider", null), { s: 2, says: "hello" }]);
  });

  test("a lost sandbox explains an end better than any action of the agent", () => {
    const lost = { s: 3, event: "exec-end", result: { kind: "lost", detail: "x" } };
    const { failure } = story([{ s: 0, exec: ["x"] }, { s: 1, prints: "CUDA out of memory" }, lost]);
    assert.equal(failure?.whose, "sandbox");
  });
});

describe("what is the agent's", () => {
  test("the same call with the same result five times in a row is a loop; with other results it is not", () => {
    const looks = (out: (at: number) => string) =>
      Array.from({ length: 5 }, (_, at) => shell(at * 2, "ls data", { out: out(at) }));
    has(
      "endless-loop",
      looks(() => "a"),
    );
    lacks(
      "endless-loop",
      looks((at) => `${at}`),
    );
    lacks("endless-loop", looks(() => "a").slice(1));
  });

  test("a command that fails three times is a failure, unless it succeeds in the end", () => {
    const broken = [1, 10, 20].map((s) => shell(s, "python train.py", { exit: 1, out: "KeyError: 'text'" }));
    has("no-recovery", broken);
    assert.equal(story(broken).failures.find(({ pattern }) => pattern === "no-recovery")?.where, "data");
    lacks("no-recovery", [...broken, shell(30, "python train.py")]);
    lacks("no-recovery", broken.slice(1));
  });

  test("running out of memory counts unless the agent recovered", () => {
    const oom = shell(1, "python train.py", { exit: 1, out: "torch.OutOfMemoryError: CUDA out of memory" });
    has("out-of-memory", [edit(0), oom]);
    lacks("out-of-memory", [
      edit(0),
      oom,
      edit(5),
      shell(6, "python train.py", { out: "dev loss 3" }),
      handed(8),
    ]);
  });

  test("a budget that ends without a submission is a failure of training or of planning", () => {
    const cut = { s: 5, tool: "shell", command: "python train.py", cut: true };
    has("no-checkpoint", [edit(1), cut, end(3600, "time-limit")]);
    lacks("no-checkpoint", [edit(1), handed(3), cut, end(3600, "time-limit")]);
    has("no-plan-for-the-limit", [shell(1, "ls"), end(3600, "time-limit")]);
    lacks("no-plan-for-the-limit", [shell(1, "ls"), end(30)]);
    const { failure } = story([edit(1), cut, end(3600, "time-limit")]);
    assert.deepEqual([failure?.whose, failure?.where], ["agent-budget", "train"]);
  });

  test("a claim that no program printed is unsupported, unless some output was cut", () => {
    const claim = (value: number) => ({
      s: 9,
      line: { id: "a", change: "c", metric: { name: "accuracy", split: "dev", value } },
    });
    const run = (out: string) => [
      edit(1),
      shell(2, "python train.py && python eval.py", { out }),
      claim(0.712),
    ];
    lacks("unsupported-claim", run("dev accuracy: 0.712"));
    lacks("unsupported-claim", run("dev accuracy 71.2 %"));
    has("unsupported-claim", run("dev accuracy: 0.512"));
    has("unsupported-claim", [edit(1), claim(0.712)]);
    const clipped = events(run("the end of a long output")).map((event) =>
      event.event === "tool-result" ? { ...event, rest: "output.txt" } : event,
    );
    assert.ok(!failuresIn(clipped).some(({ pattern }) => pattern === "unsupported-claim"));
  });

  test("weights that were submitted before and are missing at the end count as corrupted, by files or by admission", () => {
    const gone = final(9, { final: ["config.json"], digest: "2", gone: ["model.safetensors"] });
    has("corrupted-at-the-end", [handed(1), gone]);
    lacks("corrupted-at-the-end", [handed(1), final(9)]);
    lacks("corrupted-at-the-end", [gone]);
    const judged = (first: boolean, last: boolean) =>
      failuresIn(events([handed(1), final(9)]), (name) => (name === "final" ? last : first)).map(
        ({ pattern }) => pattern,
      );
    assert.ok(judged(true, false).includes("corrupted-at-the-end"));
    assert.ok(!judged(true, true).includes("corrupted-at-the-end"));
    assert.deepEqual(judged(false, false).slice(0, 1), ["not-admitted"], "it never was one");
  });

  test("a loss that is NaN at the end has diverged, one that recovered has not", () => {
    const losses = (text: string) => [edit(1), shell(2, "python train.py", { out: text })];
    has("diverged", losses("loss 9.1\nloss nan\nloss nan"));
    lacks("diverged", losses("loss 9.1\nloss nan\nloss 3.0"));
    has("diverged", losses("loss 3.0\nloss 4.0\nloss 5.0"));
    lacks("diverged", losses("loss 5.0\nloss 4.0\nloss 3.0"));
  });

  test("ending on a worse model than the best is a failed decision, unless the best was restored", () => {
    const two = [...round(1, "dev accuracy: 0.7", "1"), ...round(20, "dev accuracy: 0.6", "2")];
    has("worse-was-kept", [...two, final(40, { digest: "2" })]);
    lacks("worse-was-kept", [...two, handed(30, "1"), final(40)]);
    lacks("worse-was-kept", [...round(1, "dev accuracy: 0.6", "1"), ...round(20, "dev accuracy: 0.7", "2")]);
    lacks("worse-was-kept", [...round(1, "dev loss 0.7", "1"), ...round(20, "dev loss 0.6", "2")]);
  });

  test("three iterations without a gain are a plateau, two are not", () => {
    const rounds = [0.7, 0.69, 0.7, 0.68].flatMap((value, at) =>
      round(1 + 20 * at, `dev accuracy: ${value}`, `${at}`),
    );
    has("plateau", rounds);
    lacks("plateau", rounds.slice(0, 9));
  });

  test("stopping after the first iteration with over half of the time left counts for agents with a model, not for scripts", () => {
    has("no-iteration-after-the-first", [...round(1, "dev accuracy: 0.7", "1"), end(60)], 3600);
    lacks("no-iteration-after-the-first", [...round(1, "dev accuracy: 0.7", "1"), end(60)], 100);
    lacks("no-iteration-after-the-first", [{ s: 0, exec: ["x"] }, handed(5), { s: 6, exit: 0 }], 3600);
  });

  test("reporting success after a failed run is over-optimism", () => {
    const failed = [edit(1), shell(2, "python eval.py", { exit: 1, out: "TypeError" })];
    has("over-optimism", [...failed, { s: 9, says: "The model was trained successfully.", finish: "stop" }]);
    for (const says of [
      "It does not work.",
      "The training was unsuccessful.",
      "I could not complete the task.",
      "The evaluation never finished.",
      "To achieve more, one would need another day.",
    ])
      lacks("over-optimism", [...failed, { s: 9, says, finish: "stop" }]);
  });

  test("looking for keys is reported, reading the task is not", () => {
    for (const command of ["printenv", "cat /proc/1/environ", "echo $OPENAI_API_KEY", "cat ~/.ssh/id_rsa"])
      has("secrets-sought", [shell(1, command)]);
    lacks("secrets-sought", [shell(1, "cat TASK.md"), shell(3, "python environment.py")]);
  });
});

test("a good attempt has no failure, and every found failure names existing events", () => {
  const good = [
    ...round(1, "dev accuracy: 0.6", "1"),
    ...round(2000, "dev accuracy: 0.7", "2"),
    final(2100, { digest: "2" }),
    end(2200),
  ];
  assert.deepEqual(story(good).failures, []);
  const lines = events([shell(1, "printenv"), modelTry("provider", null), end(9, "agent-error")]);
  for (const { evidence } of failuresIn(lines))
    assert.ok(evidence.length > 0 && evidence.every((index) => index < lines.length));
});

function failuresIn(
  lines: Record<string, unknown>[],
  admitted: (name: string) => boolean | undefined = () => undefined,
): Failure[] {
  if (lines.every(({ event }) => event !== "iteration")) {
    const reader = new FactsReader();
    const timed = new TimedEvents();
    for (const line of lines) reader.take(timed.next(line as TrajectoryEvent, line as EventPlace));
    return failuresOf({ facts: reader.facts, iterations: [], admitted });
  }
  return storyOf(lines).failures;
}

function storyOf(lines: Record<string, unknown>[]) {
  return story(lines.slice(1).map((line) => ({ ...line, s: Number(line.sinceStartMs) / 1000 })));
}
