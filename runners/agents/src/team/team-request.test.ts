import assert from "node:assert/strict";
import { test } from "node:test";
import { attemptParams } from "../attempt/attempt-params.ts";
import { teamRequest } from "./team-request.ts";
import { teamText } from "./team-text.ts";

const model = {
  ...{ kind: "llm", provider: "openai", secrets: ["KEY"], command: null },
  model: { id: "m", contextTokens: 1000, key: "KEY" },
};
const program = { kind: "command", command: ["./run"], gateway: null };

const request = (members: object[], more: object = {}) =>
  teamRequest(attemptParams({ kind: "team", prompt: "p", team: { members, ...more } as never }), {
    KEY: "k",
  });

test("members come with their models and keys, and by default share everything", () => {
  const { members, ...shared } = request([
    { name: "lead", agent: "a", role: "You lead.", preset: model },
    { name: "coder", agent: "b", after: ["lead"], preset: program },
  ]);
  assert.deepEqual(shared, { workspace: "shared", resources: "shared" });
  assert.deepEqual(
    members.map(({ name, kind, after, command, llm }) => [name, kind, after, command, llm?.key]),
    [
      ["lead", "llm", [], [], "k"],
      ["coder", "command", ["lead"], ["./run"], undefined],
    ],
  );
});

test("a wrong member is refused with its name and what to change", () => {
  const lead = { name: "lead", agent: "a", preset: model };
  for (const [other, why] of [
    [{ name: "b", agent: "b", preset: { kind: "nop" } }, /member "b" is of kind nop/],
    [{ name: "lead", agent: "b", preset: program }, /member "lead": each has a name of its own/],
    [{ name: "b", agent: "b", preset: program, after: ["c"] }, /member "b": .* waits for others of the team/],
    [{ name: "b", agent: "b", preset: program, after: ["b"] }, /member "b": .* waits for others of the team/],
    [{ name: "b", agent: "b" }, /kind/],
    [
      { name: "b", agent: "b", preset: { ...program, scaffoldVersion: 9 } },
      /version 9 of the command scaffold/,
    ],
  ] as const)
    assert.throws(() => request([lead, other]), why);
});

test("what members read names all of them, their roles, the board and the one submission", () => {
  const members = [
    { name: "lead", agent: "a", role: "You lead.", preset: model },
    { name: "coder", agent: "b", after: ["lead"], preset: program },
  ];
  assert.equal(
    teamText(request(members, { workspace: "own", resources: "divided" }), "coder"),
    `
---

You are coder, in a team of 2 that works on this task together, in one sandbox. The members:

- lead: You lead.
- coder (starts after lead): no role of its own

The submission is one, and so is the budget of time, tokens and money: what one uses is gone for all. Each member works in a folder of its own, the workspace's folder of its name, where data, models and submission are links to the common ones. shared/ in the workspace (MLRB_SHARED) is for files of all. Each has an equal part of the processors, the memory and the GPUs; keep to yours.

Members write to each other on a message board. A model has the tools send_message and read_messages. A program writes
a file outbox/NAME/ANY.json in the folder MLRB_BOARD, NAME being its own name, with {"to": NAME or "all",
"purpose": "message" or "hand-over", "text": TEXT}, under another name first and then renamed; messages to it lie in
inbox/NAME/, as 000001.json and so on. A text may have 16384 bytes. A hand-over tells members that start after
you to start. Your own end (submit, or the end of your program) ends your work, not that of the others: the attempt
ends when all have ended, or at the deadline.
`,
    "another text needs a new version in scaffold-versions.ts, and a new transcript here",
  );
  assert.match(
    teamText(request(members), undefined),
    /You are the member that the variable MLRB_MEMBER names, /,
  );
});
