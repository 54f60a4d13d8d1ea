// The program of a Slurm job on a node whose podman is a test's own dockerd: the stage's image is the host's programs.
// Usage: as slurm-job.ts. The stage's DOCKER_HOST is dockerd's.
import { DockerExecutor } from "@mlrb/docker/docker-executor";
import { runSlurmJob } from "@mlrb/local/process/run-slurm-job";

const [, , folder] = process.argv;
const engine = { kind: "podman", open: () => Promise.reject(new Error("no walls are wanted")) };
const others = { isLive: () => true, take: () => false };
await runSlurmJob(folder!, {
  chooseWalls: async () => ({ kind: "chosen", engine, passed: [] }),
  containers: async ({ root, work, token, env }) =>
    new DockerExecutor({
      ...{ root, state: work, run: token, held: true, ...others },
      env: { ...process.env, ...env },
    }),
});
