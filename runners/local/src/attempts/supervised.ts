// A handle on an attempt that a separate process supervises: for the run that begins it and for later runs that
// find it running. Dropping the handle does not end the attempt.

import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExecutionRequest, Running } from "@mlrb/core/ports/executor";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { hasOpenJob } from "@mlrb/kit/attempts/open-job";
import { endProcesses } from "@mlrb/kit/processes/end-processes";
import { quiet } from "@mlrb/kit/processes/process-table";
import { look } from "../leases/heartbeat.ts";
import { lifeOf } from "../leases/owner.ts";
import { inherited, inheritedWithProxy } from "../process/inherited-variables.ts";
import { attemptEnd, attemptToken, lostFolderOf, supervisorFile } from "./attempt-folders.ts";
import { lostCause } from "./lost-words.ts";
import { endSignals, type Supervision } from "./supervisor.ts";

/** Interval of checks on a supervisor that is not a child of this process. */
const lookMs = 200;

const supervisorHere = join(dirname(fileURLToPath(import.meta.url)), "supervisor.ts");

/**
 * Starts a supervisor for an attempt whose folder is prepared. `program`: absolute; replaces the supervisor of
 * stages on this host.
 */
export function startSupervised(
  { path: folder, name }: { path: string; name: string },
  request: ExecutionRequest,
  { program = supervisorHere, ...more }: Omit<Supervision, "request"> & { program?: string | undefined } = {},
): Running {
  const log = openSync(join(folder, "supervisor.log"), "a");
  const child = spawn(process.execPath, [...nodeFlags, program, folder], {
    cwd: request.root,
    env: {
      NODE_COMPILE_CACHE: request.env.NODE_COMPILE_CACHE,
      ...inherited(ownVariables),
      ...(program !== supervisorHere && inheritedWithProxy(ofNetwork)),
    },
    stdio: ["pipe", log, log],
    detached: true,
  });
  closeSync(log);
  child.stdin!.on("error", () => {}); // the supervisor ended: `close` below reports the end
  const asked: Supervision = { request, ...more };
  child.stdin!.end(`${JSON.stringify(asked)}\n`);
  const { promise: gone, resolve } = Promise.withResolvers<string | undefined>();
  child
    .on("exit", (_, signal) => resolve(signal ? `ended by ${signal}` : undefined))
    .on("error", (error) => resolve(error.message));
  return handle(folder, name, { pid: () => child.pid, gone, unref: () => child.unref() });
}

/** A handle on an attempt that another run began. */
export function watchSupervised(folder: string, name: string): Running {
  const supervisor = look(supervisorFile(folder))?.owner;
  const { promise: gone, resolve } = Promise.withResolvers<undefined>();
  const timer = setInterval(() => {
    if (supervisor && lifeOf(supervisor) === "alive") return;
    clearInterval(timer);
    resolve(undefined);
  }, lookMs);
  const pid = () => (supervisor && lifeOf(supervisor) === "alive" ? supervisor.pid : undefined);
  return handle(folder, name, { pid, gone, unref: () => clearInterval(timer) });
}

type Supervisor = {
  pid: () => number | undefined;
  gone: Promise<string | undefined>;
  /** Lets this process end before the supervisor does. */
  unref(): void;
};

function handle(folder: string, name: string, { pid, gone, unref }: Supervisor): Running {
  let over = false;
  const { promise: left, resolve: leave } = Promise.withResolvers<"left">();
  let asked = false;
  const tell = (signal: NodeJS.Signals) => {
    asked = true;
    const id = over ? undefined : pid();
    if (id !== undefined) quiet(() => process.kill(id, signal)); // if it is gone, `ended` reports the end
  };
  const ended = (async (): Promise<ExecutionResult> => {
    const trouble = await Promise.race([gone, left]);
    if (trouble === "left") return { kind: "cancelled" };
    over = true;
    const end = attemptEnd(folder) ?? attemptEnd(lostFolderOf(folder));
    if (end) return end.result;
    const isElsewhere = hasOpenJob(folder); // a job goes on without its supervisor
    // the supervised processes end with the supervisor; a sandbox may need time
    try {
      if (!isElsewhere) await endProcesses({ token: attemptToken(name), root: folder, groups: [] });
    } catch (error) {
      return { kind: "failed", cause: "machine", detail: (error as Error).message };
    }
    if (asked) return { kind: "cancelled" };
    return { kind: "failed", cause: "machine", detail: lostCause(folder, trouble).detail };
  })();
  return {
    ended,
    askToEnd: () => tell(endSignals.ask),
    kill: () => tell(endSignals.kill),
    leave() {
      unref();
      leave("left");
    },
  };
}

/** The variables of the supervisor. The variables of the attempt, with its secrets, are in its request. */
const ownVariables =
  /^(PATH|HOME|TMPDIR|LANG|DOCKER_|CONTAINER_|SLURM_(CONF|CLUSTERS)$|MLRB_(?!TOKEN|STAGE|WORK)|NODE_COMPILE_CACHE)/;

/** A supervisor of a job calls the models itself. It does so with the site's certificates and proxies. */
const ofNetwork = /^(NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|NODE_USE_ENV_PROXY)$|^(https?|no)_proxy$/i;
