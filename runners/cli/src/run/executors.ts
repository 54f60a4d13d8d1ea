// The executors of this program, by the names that pipelines use. Each is loaded when the first stage needs it.
import { join } from "node:path";
import { look } from "@mlrb/local/leases/heartbeat";
import { isAlive } from "@mlrb/local/leases/owner";
import type { ClearSandbox, RunOptions } from "@mlrb/local/run/run-request";

export const executorNames = ["local", "docker"];

/** `repository` is every stage's working directory. */
export function executorsOf(repository: string): RunOptions["executors"] {
  return {
    local: async () => (await import("@mlrb/local/process/local-executor")).localExecutor(repository),
    async docker({ run, state }) {
      const { DockerExecutor } = await import("@mlrb/docker/docker-executor");
      const isLive = (other: string) => {
        const owner = look(join(state.work, other, "owner.json"))?.owner;
        return owner !== undefined && isAlive(owner);
      };
      return new DockerExecutor({ root: repository, state: state.state, run, isLive });
    },
  };
}

export const clearSandbox: ClearSandbox = async (token, executor) => {
  if (executor === "docker") {
    const { clearDockerWalls } = await import("@mlrb/docker/docker-walls");
    return clearDockerWalls(token);
  }
  const { clearBubblewrap } = await import("@mlrb/agents/sandbox/bubblewrap-walls");
  return clearBubblewrap(token);
};
