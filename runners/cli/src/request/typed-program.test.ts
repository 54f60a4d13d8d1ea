import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { typedCommand } from "./typed-command.ts";
import { inTypedForm, programIn, rememberProgram } from "./typed-program.ts";

const agent = { npm_config_user_agent: "pnpm/10.34.9 npm/? node/v26.10.0 linux x64" };
const byNpx = { ...agent, npm_execpath: "/home/ann/.npm/_npx/c80d/node_modules/pnpm/bin/pnpm.cjs" };

afterEach(() => rememberProgram({}));

test("hints name npx with pnpm's version if npx brought pnpm", () => {
  assert.equal(programIn(byNpx), "npx -y pnpm@10.34.9 pipeline");
  const onWindows = {
    ...byNpx,
    npm_execpath: "C:\\npm-cache\\_npx\\c80d\\node_modules\\pnpm\\bin\\pnpm.cjs",
  };
  assert.equal(programIn(onWindows), "npx -y pnpm@10.34.9 pipeline");
});

test("hints name pnpm if pnpm is installed, or if the program was started without it", () => {
  assert.equal(
    programIn({ ...agent, npm_execpath: "/usr/lib/node_modules/pnpm/bin/pnpm.cjs" }),
    "pnpm pipeline",
  );
  assert.equal(programIn({}), "pnpm pipeline");
});

test("commands, and messages of other packages, repeat the form", () => {
  rememberProgram(byNpx);
  assert.equal(typedCommand("log", "a[b=1]", {}), "npx -y pnpm@10.34.9 pipeline log 'a[b=1]'");
  assert.equal(
    inTypedForm("see `pnpm pipeline list`, then `npx -y pnpm@10.34.9 pipeline run`"),
    "see `npx -y pnpm@10.34.9 pipeline list`, then `npx -y pnpm@10.34.9 pipeline run`",
  );
});
