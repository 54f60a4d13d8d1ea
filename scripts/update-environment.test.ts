// Updates locks with the real uv of tools.lock, from folders with tiny packages.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closedPort } from "../pipelines/steps/environment/testing/closed-port.ts";
import {
  noPipSettings,
  onlyFrom,
  type Package,
  packageFolder,
} from "../pipelines/steps/environment/testing/packages.ts";
import { ensureEnvironment } from "./ensure-environment.ts";

const root = mkdtempSync(join(tmpdir(), "update-environment-"));
after(() => rmSync(root, { recursive: true }));
before(() => ensureEnvironment("pipelines/environments/tools.lock"));

const packages: Package[] = [
  { name: "top", version: "1.0", needs: ["low"] },
  { name: "low", version: "1.0" },
  { name: "low", version: "2.0" },
];

/** A folder with x.in, and a function that runs the program on it. */
function place(input: string) {
  const folder = mkdtempSync(join(root, "u-"));
  const lock = join(folder, "x.lock");
  writeFileSync(join(folder, "x.in"), input);
  return {
    lock,
    files: () => readdirSync(folder).sort(),
    text: () => readFileSync(lock, "utf8"),
    pins: () => readFileSync(lock, "utf8").match(/^\w+==[\d.]+/gm),
    update(env: Record<string, string>, ...more: string[]) {
      const ran = spawnSync(
        process.execPath,
        [join(import.meta.dirname, "update-environment.ts"), lock, ...more],
        {
          encoding: "utf8",
          env,
        },
      );
      const short = (text: string) => text.replaceAll(folder, "F");
      return { status: ran.status, said: short(ran.stdout), error: short(ran.stderr) };
    },
  };
}

const input = "# section: wheels\ntop\n";

test("a lock has the hashes of all files, keeps its pins, and changes only requested ones", () => {
  const [oldest, newest] = [packages.slice(0, 2), packages].map((some) => packageFolder(root, some));
  const at = place(input);
  assert.deepEqual(at.update(onlyFrom(oldest!.folder)), {
    status: 0,
    said: "F/x.lock written\n  + low 1.0\n  + top 1.0\n",
    error: "",
  });
  const first = at.text();
  assert.equal(
    first.replaceAll(" \\\n   ", ""),
    `# Made by scripts/update-environment.ts from x.in, which is what to edit.\n\n\n# section: wheels\n${oldest!.pin("low")}\n${oldest!.pin("top")}\n`,
  );
  assert.equal(at.update(onlyFrom(newest!.folder)).said, "F/x.lock is up to date\n");
  assert.equal(at.text(), first);
  const moved = at.update(onlyFrom(newest!.folder), "--upgrade", "Low");
  assert.equal(moved.said, "F/x.lock written\n  ~ low 1.0 -> 2.0\n", moved.error);
  assert.deepEqual(at.pins(), ["low==2.0", "top==1.0"]);
});

test("an unknown pin, an unreachable index and a wrong name leave the old lock unchanged", async () => {
  const env = onlyFrom(packageFolder(root, packages).folder);
  const at = place(input);
  at.update(env);
  const held = at.text();
  writeFileSync(at.lock.replace(".lock", ".in"), "# section: wheels\ntop==9\n");
  const refused = at.update(env);
  assert.equal(refused.status, 1);
  assert.match(
    refused.error,
    /^mlrb: F\/x\.in: no set of packages satisfies it\n[\s\S]*top==9[\s\S]*F\/x\.lock is unchanged\n$/,
  );

  writeFileSync(at.lock.replace(".lock", ".in"), `${input}more\n`);
  const index = `http://127.0.0.1:${await closedPort()}/simple`;
  const lost = at.update({ ...noPipSettings(), PIP_INDEX_URL: index, UV_HTTP_RETRIES: "0" });
  assert.equal(lost.status, 1);
  assert.match(lost.error, /^mlrb: F\/x\.in: the Python package index cannot be reached; check the network/);
  assert.ok(lost.error.includes(index), "uv asks the index that pip is set up with");

  assert.equal(at.update(env, "--upgrade", "lo").error, "mlrb: F/x.lock has no lo to upgrade\n");
  writeFileSync(at.lock.replace(".lock", ".in"), "top\n");
  assert.equal(at.update(env).error, 'mlrb: F/x.in:1: "top" comes before the first "# section:" line\n');
  assert.equal(at.text(), held);
  assert.deepEqual(at.files(), ["x.in", "x.lock"]);
});
