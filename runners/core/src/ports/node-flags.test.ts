import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { nodeFlags } from "./node-flags.ts";

test("the runner and the suite start with the flags on their command line", () => {
  const { scripts } = JSON.parse(
    readFileSync(new URL("../../../../package.json", import.meta.url), "utf8"),
  ) as { scripts: Record<string, string> };
  for (const name of ["pipeline", "test"])
    for (const flag of nodeFlags)
      assert.ok(scripts[name]!.split(" ").includes(flag), `${name} without ${flag}`);
});
