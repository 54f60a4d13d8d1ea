// The executors of this program, by the names that pipelines use. Each is loaded when the first stage needs it.
import { basename, join } from "node:path";
import { look } from "@mlrb/local/leases/heartbeat";
import { isAlive } from "@mlrb/local/leases/owner";
import type { ClearSandbox, RunOptions } from "@mlrb/local/run/run-request";
import { takeLeft } from "@mlrb/local/stage/adoptions";
import { slurmProgram, slurmSupervisor } from "../cluster/slurm-program.ts";

export const executorNames = ["local", "docker", "slurm"];

/** `repository` is every stage's working directory. */
export function executorsOf(repository: string): RunOptions["executors"] {
  return {
    local: async () => (await import("@mlrb/local/process/local-executor")).localExecutor(repository),
    async docker({ run, state }) {
      const { DockerExecutor } = await import("@mlrb/docker/docker-executor");
      return new DockerExecutor({ root: repository, state: state.state, run, ...othersIn(state.work, run) });
    },
    async slurm({ run, state: { work } }) {
      const { SlurmExecutor } = await import("@mlrb/slurm/slurm-executor");
      return new SlurmExecutor({ work, run, program: slurmProgram, ...othersIn(work, run) });
    },
  };
}

/** The programs that supervise attempts on other machines, by executor. */
export const supervisors = { slurm: slurmSupervisor };

/** What the run `own` knows of others, and takes of dead ones. `work` is the folder of all runs' folders. */
function othersIn(work: string, own: string) {
  return {
    isLive(run: string): boolean {
      const owner = look(join(work, run, "owner.json"))?.owner;
      return owner !== undefined && isAlive(owner);
    },
    take: (from: string, name: string): boolean => takeLeft(work, { from, name, run: own }),
  };
}

export const clearSandbox: ClearSandbox = async (token, executor) => {
  if (executor === "slurm") return; // a sandbox on a node ends with its job
  if (executor === "docker") {
    const { clearDockerWalls } = await import("@mlrb/docker/docker-walls");
    return clearDockerWalls(token);
  }
  const { clearBubblewrap } = await import("@mlrb/agents/sandbox/bubblewrap-walls");
  return clearBubblewrap(token);
};

/** Ends the jobs in an attempt's folder, of which no process takes care. Prints what a person must do. */
export async function endJobs(path: string): Promise<void> {
  const { endAttemptJobs } = await import("@mlrb/slurm/end-attempt-jobs");
  for (const trouble of await endAttemptJobs(path)) process.stderr.write(`${basename(path)}: ${trouble}\n`);
}
