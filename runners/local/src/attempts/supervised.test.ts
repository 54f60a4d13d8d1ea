import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { startSupervised } from "./supervised.ts";

/** An attempt on a cluster, whose supervisor runs `code`. */
function attempt(t: TestContext, code: string) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-supervised-"));
  t.after(() => removeFolder(root));
  const path = join(root, "a");
  mkdirSync(path);
  const program = join(root, "supervisor.ts");
  writeFileSync(program, code);
  const start = () =>
    startSupervised({ path, name: "a" }, { root, env: {} } as ExecutionRequest, { program });
  return { path, start };
}

test("the supervisor of a job reaches models with the site's certificates and proxy, and gets no other variable", async (t) => {
  const { path, start } = attempt(
    t,
    `import { writeFileSync } from "node:fs";
     writeFileSync(process.argv[2] + "/env", JSON.stringify(process.env));`,
  );
  const site = { NODE_EXTRA_CA_CERTS: "", https_proxy: "http://proxy.site:3128", NO_PROXY: "localhost" };
  const before = { ...process.env };
  Object.assign(process.env, site, { OTHER_KEY: "secret" });
  t.after(() => {
    for (const name of [...Object.keys(site), "OTHER_KEY"])
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
  });
  await start().ended;
  const env = JSON.parse(readFileSync(join(path, "env"), "utf8")) as Record<string, string>;
  assert.deepEqual({ ...env, ...site, NODE_USE_ENV_PROXY: "1" }, env);
  assert.equal(env.OTHER_KEY, undefined);
});
