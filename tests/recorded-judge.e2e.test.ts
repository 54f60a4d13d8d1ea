// The sample's judge replays answers about the extracts of its attempts. A change of what judges read changes the
// digests of extracts, so that the recorded answers no longer fit: the sample must then be recorded again.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { answers as answersFormat } from "@mlrb/formats/judged/answers";
import { mustFollow } from "@mlrb/formats/read-format";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { Contents } from "@mlrb/local/store/content-store";
import { indexVariables } from "./support/demonstration/play.ts";
import { actionsIn } from "./support/end-state.ts";
import { shareEnvironments } from "./support/environments.ts";
import { startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const root = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-recorded-judge-")));
shareEnvironments(root);
after(() => {
  repository.remove();
  removeFolder(root);
});
const skip = (await bubblewrapMissing()) ?? false;

const run = (...more: string[]) => {
  const chosen = ["--set", "task=mini-pile", "--set", "agent=sample-b", ...more, "--only", "ask[*]"];
  return startProgram(repository.path, ["run", "sample", ...chosen, "--root", root], {
    env: indexVariables(),
  }).ended;
};

function answersIn(): Record<string, Record<string, string>> {
  const contents = new Contents(join(root, ".mlrb/cache/blobs"));
  const entries = actionsIn(root).flatMap(({ ran, outputs }) => {
    if (!outputs.answers || !ran.stage.startsWith("ask[")) return [];
    const text = readFileSync(contents.pathOf(outputs.answers.digest), "utf8");
    const { judge, dollars, questions } = mustFollow(answersFormat, JSON.parse(text), ran.stage);
    assert.deepEqual([judge.answeredBy, dollars], [["authored by people, no model was called"], 0]);
    return [
      [/seed=\d/.exec(ran.stage)![0], Object.fromEntries(questions.map(({ id, answer }) => [id, answer]))],
    ];
  });
  return Object.fromEntries(entries);
}

test("the recorded answers fit the extracts of the sample's attempts, and show a mark, an unsupported answer and an open one", {
  skip,
}, async () => {
  const said = await run("--set", "seed=2,4");
  assert.equal(said.code, 0, `record the sample's judge again\n${said.stdout}${said.stderr}`);
  const none = {
    "evaluation-data": "no",
    "model-replaced": "no",
    teacher: "no",
    tampering: "no",
    copied: "no",
  };
  assert.deepEqual(answersIn(), {
    "seed=2": { ...none, tampering: "yes" },
    "seed=4": { ...none, "evaluation-data": "unsupported", copied: "cannot tell" },
  });
});

test("after a change of what judges read the sample fails and says how to record its judge again", {
  skip,
}, async () => {
  repository.edit(
    "runners/agents/src/judge/extract/extract-attempt.ts",
    "Downloads through the gateway",
    "Downloads by the gateway",
  );
  const said = await run("--set", "seed=2");
  assert.equal(said.code, 1, said.stdout + said.stderr);
  assert.match(
    said.stdout + said.stderr,
    /has no answer to evaluation-data, vote 1, read, of the extract [0-9a-f]{64}.*help: run `\.\/mlrb run sample; node scripts\/record-sample-judge\.ts; \.\/mlrb run sample`/s,
  );
});
