// Starts Python programs by forking them from servers that have imported the heavy libraries (fork_server.py), one
// for each environment and set of variables. Otherwise returns the reason why a program needs a new process. Linux
// only. A server starts with the first job that can use it, and that job waits: the server imports the libraries
// that the job would import.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Network } from "@mlrb/formats/declared/pipeline";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import type { Job } from "./spawner.ts";
import { type Spawned, SpawnerHelper, tokenRoom } from "./spawner-helper.ts";
import type { WallsDescription } from "./walls.ts";

type ForkJob = Omit<Job, "walls"> & {
  /** Absolute path of the file that the server imports first. */
  preload: string;
  /** A folder in which the job must not be able to write. */
  readOnly: string | undefined;
  network: Network | undefined;
  /** Whether the job has no network; see namespaces. */
  offline: boolean;
  walls: WallsDescription | undefined;
};

export type ForkServers = ReturnType<typeof forkServers>;

/** Begins the job, or the reason why the job needs a new process. */
type Forked = { spawn(): Promise<Spawned | { failed: string }> } | { fresh: string };

/** Each server holds most of a gigabyte. */
const serversMax = 2;

/** Time limit of the imports, in ms: long enough for a slow disk. */
const readyMs = 300_000;

/** Variables that differ between jobs. Imports do not read them, or their paths are redirected; see fork_job.py. */
const own = new Set([
  "HOME",
  "TMPDIR",
  "MLRB_STAGE",
  "MLRB_WORK",
  "MLRB_TOKEN",
  "MLRB_PERMISSIONS",
  "NODE_COMPILE_CACHE", // Node's; stages that open submissions have none, and would need a server of their own
]);

/** `root` becomes every job's working directory. */
export function forkServers(root: string) {
  const servers = new Map<string, { helper: SpawnerHelper<object>; home: string }>();
  const start = ({ argv, env, preload }: ForkJob) => {
    const home = mkdtempSync(join(tmpdir(), "mlrb-warm-"));
    const program = join(dirname(fileURLToPath(import.meta.url)), "fork_server.py");
    const helper = new SpawnerHelper<object>({
      argv: [argv[0]!, ...starter, program, preload, home],
      cwd: root,
      env: { ...sharedOf(env), HOME: home, TMPDIR: home, MLRB_TOKEN: tokenRoom },
      readyMs,
    });
    return { helper, home };
  };
  return {
    /** Once the job's server is ready. */
    async serverOf(job: ForkJob): Promise<Forked> {
      if (process.platform !== "linux") return { fresh: "this is not Linux" };
      // the libraries were imported without a network, and some store that fact
      if (job.network !== "none") return { fresh: "it may use the network" };
      const key = JSON.stringify([job.argv[0], job.preload, Object.entries(sharedOf(job.env)).sort()]);
      let server = servers.get(key);
      if (!server) {
        if (servers.size >= serversMax)
          return { fresh: `its variables differ, and ${serversMax} servers run` };
        server = start(job);
        servers.set(key, server);
      }
      const { helper } = server;
      const trouble = await helper.ready;
      if (trouble !== undefined) return { fresh: `the server cannot be used: ${trouble}` };
      if (!helper.living()) return { fresh: "the server ended" };
      const { argv, env, log, readOnly, offline, walls } = job;
      return { spawn: () => helper.spawn({ argv, env, log, offline, readOnly, walls }) };
    },
    /** Call when no job is left. */
    close() {
      for (const { helper, home } of servers.values()) {
        helper.close();
        removeFolder(home);
      }
    },
  };
}

/** Arguments with which the project's tests have a server start from one that has made the imports. */
const starter: string[] = JSON.parse(process.env.MLRB_TEST_FORK_SERVER ?? "[]");

function sharedOf(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.has(name)));
}
