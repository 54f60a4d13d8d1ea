// The Slurm executor as the engine relies on it, with a real Slurm of two nodes on loopback.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import {
  ContractLab,
  executorContract,
  type MakeExecutor,
} from "../../../tests/support/executor-contract.ts";
import { type SlurmCluster, slurmCluster } from "../../../tests/support/machines/slurm-cluster.ts";
import { SlurmExecutor } from "./slurm-executor.ts";

const program = join(import.meta.dirname, "../../cli/src/cluster/slurm-job.ts");
const times = { intervalMs: 300, lateMs: 3_000 };
let cluster: SlurmCluster;
let why: string | false = false;
before(async () => {
  const started = await slurmCluster();
  if ("skip" in started) why = started.skip;
  else cluster = started;
});
after(() => cluster?.stop());

const slurm: MakeExecutor = ({ work, run, isLive, take }) =>
  new SlurmExecutor({ work, run, isLive, take, program, times, env: { ...process.env, ...cluster.env } });

executorContract("slurm", slurm, { skip: () => why, adopts: true });

const image = `lab/score@sha256:${"0".repeat(64)}`;
test("slurm: a stage with an image never runs without it", { timeout: 120_000 }, async (t) => {
  if (why !== false) return t.skip(why);
  const lab = new ContractLab(t, slurm);
  const at = lab.executor("first");
  for (const request of [lab.request("echo ran", { image }), lab.walled("echo ran", { image })]) {
    const result = await at.start(request).ended;
    assert.equal(result.kind, "failed");
    assert.doesNotMatch(lab.log(request), /^ran$/m);
  }
});

test("slurm: where a stage can have no namespaces it has the walls of bubblewrap, and the same ends", {
  timeout: 120_000,
}, async (t) => {
  if (why !== false) return t.skip(why);
  if (!existsSync("/usr/bin/bwrap")) return t.skip("bubblewrap is not installed");
  const lab = new ContractLab(t, slurm);
  const at = lab.executor("first");
  // without python3 on the stage's PATH no namespaces are built
  const env = (request: ExecutionRequest) => ({
    ...request,
    env: { ...request.env, PATH: withoutPython(t) },
  });
  const seen = env(
    lab.walled('/usr/bin/cat "$HOME/../in/weights" "$ROOT/secret"; echo kept > "$HOME/../out/a"'),
  );
  assert.deepEqual((await at.start(seen).ended).kind, "succeeded", lab.log(seen));
  assert.match(lab.log(seen), /^mlrb: walls: bubblewrap \(not namespaces: .*python3 is not installed/);
  assert.match(lab.log(seen), /^weights$/m);
  assert.match(lab.log(seen), /secret: No such file/);
  assert.equal(readFileSync(join(seen.work, "out/a"), "utf8"), "kept\n");
  const late = env(
    lab.walled("/usr/bin/setsid /usr/bin/sleep 60 & /usr/bin/sleep 60", { limits: { timeMs: 1_500 } }),
  );
  assert.deepEqual(await at.start(late).ended, {
    ...{ kind: "failed", cause: "time-limit", detail: "did not end within 1.5 s" },
  });
});

/** A folder with what bubblewrap is tried with; it is not seen inside. */
function withoutPython(t: TestContext): string {
  const bin = mkdtempSync(join(tmpdir(), "bin-"));
  t.after(() => rmSync(bin, { recursive: true }));
  for (const name of ["sh", "true", "bwrap"]) symlinkSync(`/usr/bin/${name}`, join(bin, name));
  return bin;
}
