// The Slurm executor as the engine relies on it, with a real Slurm of two nodes on loopback.
import { join } from "node:path";
import { after, before } from "node:test";
import { executorContract } from "../../../tests/support/executor-contract.ts";
import { type SlurmCluster, slurmCluster } from "../../../tests/support/machines/slurm-cluster.ts";
import { SlurmExecutor } from "./slurm-executor.ts";

const program = join(import.meta.dirname, "../../local/src/process/slurm-job.ts");
const times = { intervalMs: 300, lateMs: 3_000 };
let cluster: SlurmCluster;
let why: string | false = false;
before(async () => {
  const started = await slurmCluster();
  if ("skip" in started) why = started.skip;
  else cluster = started;
});
after(() => cluster?.stop());

executorContract(
  "slurm",
  ({ work, run, isLive, take }) =>
    new SlurmExecutor({ work, run, isLive, take, program, times, env: { ...process.env, ...cluster.env } }),
  { skip: () => why, adopts: true },
);
