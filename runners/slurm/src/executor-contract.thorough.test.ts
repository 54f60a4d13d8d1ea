// The Slurm executor as the engine relies on it, with a real Slurm of two nodes on loopback.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
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
  const requests = [lab.request("echo ran", { image }), lab.walled("echo ran", { image })];
  const results = await Promise.all(requests.map((request) => at.start(request).ended));
  for (const [one, request] of requests.entries()) {
    assert.equal(results[one]!.kind, "failed");
    assert.doesNotMatch(lab.log(request), /^ran$/m);
  }
});
