// People attempt tasks at a shell behind the same walls as agents, here a scripted terminal.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { groupsMissing } from "@mlrb/agents/testing/groups-missing";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import { attemptStage, emptyData } from "./support/attempts/attempt-stages.ts";
import { recorded } from "./support/attempts/llm-attempts.ts";
import { type Lab, lab } from "./support/lab.ts";
import { supervisorsIn } from "./support/processes.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const skip = (await groupsMissing(["memory"])) ?? false;

const consent = "I take part, and what I type is recorded.\n";

function definePeople(at: Lab): void {
  const [prompt, text] = [at.script("prompt.md", "Write a model.\n"), at.script("consent.md", consent)];
  at.define({
    axes: { task: ["empty"], agent: ["human"], seed: [1] },
    stages: {
      data: emptyData,
      attempt: attemptStage({
        params: {
          ...{ kind: "person", program: "runners/agents/src/person/shell", prompt, consent: text },
          ...{ command: ["python3", "./shell.py"], pauseHours: 1 },
        },
        files: [prompt, "runners/agents/src/person/shell/**"],
        budget: { time: "10m" },
      }),
    },
  });
}

/** What is awaited on the terminal, and what is then typed; null shuts the terminal. */
type Talk = [awaited: string, typed: string | null][];

/** The exit status and all that the terminal showed. */
function talk(at: Lab, words: string[], script: Talk): Promise<{ code: number; shown: string }> {
  const program = join(repository.path, "runners/cli/bin/pipeline.js");
  const command = [process.execPath, ...nodeFlags, program, "attempts", "human", "--pipeline", at.name];
  const talker = [join(import.meta.dirname, "support/talk.py"), JSON.stringify(script), ...command];
  return new Promise((resolve) => {
    execFile("python3", [...talker, "--root", at.root, "--task", "empty", ...words], (error, shown) =>
      resolve({ code: Number(error?.code ?? 0), shown: shown.replaceAll("\r", "") }),
    );
  });
}

const begin = (alias: string): Talk => [
  ["Your alias", `${alias}\r`],
  ["I agree", "I agree\r"],
  ["know of this task", "nothing\r"],
];
const end: Talk = [
  ["Hours", "2.5\r"],
  ["assistants", "none\r"],
];

test("a person's consent, commands, output, pause and declaration are in the record, and the alias in no record", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const at = lab(t, repository);
  definePeople(at);
  const place = ["--root", at.root];

  const refused = await at.pipeline(["run", at.name, "--yes", ...place]);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /no person has made "attempt\[task=empty,agent=human,seed=1\]"/);

  const unwilling = await talk(at, ["--seed", "1"], [begin("amy")[0]!, ["I agree", "no\r"]]);
  assert.equal(unwilling.code, 2, unwilling.shown);
  assert.ok(unwilling.shown.includes(consent));
  assert.ok(!existsSync(join(at.root, ".mlrb/attempts/people.json")));

  const worked = await talk(
    at,
    ["--seed", "1"],
    [
      ...begin("amy"),
      ["attempt:", "mkdir -p submission && echo a > submission/model\r"],
      ["attempt:", 'echo \'{"formatVersion":1,"id":"1"}\' >> iterations.jsonl; false\r'],
      ["attempt:", "(sleep 3; date +%s%N > woke) & date +%s%N > slept; cat TASK.md\r"],
      ["Write a model", "\x1d"],
      ["pause", "p"],
    ],
  );
  assert.equal(worked.code, 0, worked.shown);
  assert.match(worked.shown, /Paused; the same command comes back/);
  const list = await at.pipeline(["attempts", "list", ...place]);
  assert.match(list.stdout, /waits for the person who works on it: paused/);
  await new Promise((resolve) => setTimeout(resolve, 3000));

  const other = await talk(at, ["--seed", "1"], [["Your alias", "ben\r"]]);
  assert.match(other.shown, /cut-off: the attempt is another person's/);
  const back = await talk(
    at,
    ["--seed", "1", "--alias", "amy"],
    [["attempt:", "wait; cat slept woke\r"], ["attempt:", "exit\r"], ...end],
  );
  assert.equal(back.code, 0, back.shown);

  const { ledger, events, read } = recorded(at);
  assert.deepEqual({ ...ledger.person, id: "" }, { id: "", hours: 2.5, models: "none" });
  assert.equal(ledger.ended, "finished");
  assert.equal(ledger.submission.files, 1);
  assert.equal(ledger.dollars, null, "what a person costs is not known");
  assert.ok(ledger.waitedMs!.pause! > 2500 && ledger.wallMs - ledger.workingMs > 2500);
  const found = events.find(({ event }) => event === "person")!;
  assert.deepEqual([found.consent, found.knowledge], [consent, "nothing"]);
  const calls = events.filter(({ event }) => event === "tool-call");
  assert.deepEqual(
    calls.slice(0, 1).map(({ input }) => input),
    ["mkdir -p submission && echo a > submission/model"],
  );
  const results = events.filter(({ event }) => event === "tool-result");
  assert.deepEqual(
    results.slice(0, 2).map(({ outcome, exit }) => [outcome, exit]),
    [
      ["done", { code: 0 }],
      ["failed", { code: 1 }],
    ],
  );
  const [slept, woke] = /(\d{19})\s+(\d{19})/
    .exec(String(results.find(({ input: _, ...one }) => /\d{19}/.test(String(one.text)))!.text))!
    .slice(1);
  assert.ok(Number(woke) - Number(slept) > 4e9, "what runs in the background is stopped by the pause");
  assert.ok(events.some(({ event, text }) => event === "output" && /Write a model/.test(String(text))));
  assert.equal(events.filter(({ event }) => event === "iteration").length, 1);
  assert.ok(!read("trajectory.jsonl").includes("amy") && !read("ledger.json").includes("amy"));

  const again = await talk(at, ["--seed", "2"], [["Your alias", "amy\r"]]);
  assert.match(again.shown, /not-new: amy has attempted empty/);
  const done = await talk(at, ["--seed", "1"], []);
  assert.match(done.shown, /recorded: attempt\[task=empty,agent=human,seed=1\] is done/);
  const people = join(at.root, ".mlrb/attempts/people.json");
  assert.equal(statSync(people).mode & 0o777, 0o600);
  const before = await at.pipeline(["attempts", "list", ...place]);
  assert.match(before.stdout, /human:amy/);
  assert.equal((await at.pipeline(["attempts", "forget", "amy", ...place])).code, 0);
  const afterwards = await at.pipeline(["attempts", "list", ...place]);
  assert.match(afterwards.stdout, /human:removed-1/);
  assert.ok(!readFileSync(people, "utf8").includes("amy"));
  assert.equal((await at.run("--yes")).code, 0, "the record is used");
});

test("a closed terminal ends nothing, and after the death of its supervisor the person continues with the files", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const at = lab(t, repository);
  definePeople(at);
  const left = await talk(
    at,
    ["--seed", "1"],
    [...begin("amy"), ["attempt:", "echo a > kept; sleep 1; echo b >> kept\r"], ["sleep", null]],
  );
  assert.equal(left.code, 0, left.shown);
  const shut = await talk(
    at,
    ["--seed", "1", "--alias", "amy"],
    [
      ["attempt:(.|\\n)*attempt:|attempt:", "cat kept\r"],
      ["a\\s+b", null],
    ],
  );
  assert.equal(shut.code, 0, shut.shown);
  assert.equal(supervisorsIn(at.root).length, 1);
  spawnSync("pkill", ["-9", "-f", at.root]); // the run too, as the death of the host
  const back = await talk(
    at,
    ["--seed", "1", "--alias", "amy"],
    [["attempt:", "cat kept\r"], ["b", "exit\r"], ...end],
  );
  assert.equal(back.code, 0, back.shown);
  const { ledger } = recorded(at);
  assert.equal(ledger.resumed, 1);
  assert.equal(ledger.person!.hours, 2.5);
});
