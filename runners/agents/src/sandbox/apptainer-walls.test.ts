// What Apptainer is asked, and whether it is asked at all. The program is a stub: the real one has never run here.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { apptainerAbilities } from "./apptainer-abilities.ts";
import { apptainerArguments } from "./apptainer-arguments.ts";

const flags = (network: boolean, driver = false) =>
  apptainerArguments({
    ...{ image: "/place/root", network, driver },
    mounts: [
      { source: "/sandbox/data", target: "/attempt/data" },
      { source: "/odd, name", target: "/attempt", writable: true },
    ],
  });

test("nothing of the host is shown but the mounts, and a folder is mounted before what is in it", () => {
  const argv = flags(false);
  for (const flag of ["--userns", "--containall", "--no-home", "--no-init"])
    assert.ok(argv.includes(flag), flag);
  assert.deepEqual(
    argv.filter((_, index) => argv[index - 1] === "--mount"),
    [
      'type=bind,"source=/odd, name",destination=/attempt',
      "type=bind,source=/sandbox/data,destination=/attempt/data,ro",
    ],
  );
  assert.equal(argv.at(-1), "/place/root");
});

test("a sandbox has no network unless its stage has one", () => {
  assert.match(flags(false).join(" "), /--net --network none/);
  assert.doesNotMatch(flags(true).join(" "), /--net/);
});

test("NVIDIA's driver is added only where the caller says so", () => {
  assert.ok(flags(false, true).includes("--nv"));
  assert.ok(!flags(false).includes("--nv"));
});

async function able(t: TestContext, says: string, uid = 1000) {
  const bin = mkdtempSync(join(tmpdir(), "apptainer-"));
  t.after(() => removeFolder(bin));
  writeFileSync(join(bin, "apptainer"), `#!/bin/sh\necho '${says}'\n`);
  chmodSync(join(bin, "apptainer"), 0o755);
  return await apptainerAbilities({ env: { PATH: bin }, uid });
}

test("root, and an Apptainer without the flags that isolate, are refused", async (t) => {
  assert.deepEqual(await apptainerAbilities({ env: { PATH: "/nowhere" } }), {
    missing: "apptainer is not installed",
  });
  const missing = async (says: string, uid?: number) => JSON.stringify(await able(t, says, uid));
  assert.match(await missing("apptainer version 1.3.4", 0), /this process is root/);
  assert.match(await missing("apptainer version 1.0.3"), /it is 1\.0\.3, and 1\.1 or newer is needed/);
  assert.match(await missing("singularity"), /names no version/);
  assert.match(await missing("apptainer version 1.3.4-1.el9"), /"version":"1\.3\.4"/);
});
