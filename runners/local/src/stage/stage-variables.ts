// The environment variables of a stage.
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { environmentStage, type Instance } from "@mlrb/core/plan/plan";
import { pythonPath } from "@mlrb/kit/python-path";
import { paidAnswers } from "../attempts/attempt-purse.ts";
import type { Bound } from "../decide/bind-inputs.ts";
import { environmentPython } from "../process/environments.ts";
import { findPython } from "../process/find-python.ts";
import { inherited } from "../process/inherited-variables.ts";
import type { Workspace } from "../store/workspace.ts";
import { realCommands } from "./declared-programs.ts";
import { gatewayVariables, hubVariables } from "./hub-folder.ts";

/** Only declared variables and those that any program needs; never the caller's whole environment. */
export function stageVariables(
  instance: Instance,
  bound: Bound,
  context: { workspace: Workspace; work: string; stageFile: string },
): Record<string, string> {
  const { workspace, work, stageFile } = context;
  const { action, stage, execution } = instance;
  const isBuild = stage.name === environmentStage;
  const python = bound.environment && !isBuild ? environmentPython(bound.environment.path) : undefined;
  const path = [...(python ? [dirname(python)] : []), dirname(process.execPath), process.env.PATH ?? ""];
  const env: Record<string, string> = {
    PATH: path.join(delimiter),
    HOME: join(work, "tmp"),
    TMPDIR: join(work, "tmp"),
    LANG: "C.UTF-8",
    TZ: "UTC",
    NO_COLOR: "1",
    OMP_NUM_THREADS: String(Math.max(1, Math.floor(execution.resources.cpus))),
    PYTHONHASHSEED: "0",
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONUNBUFFERED: "1",
    PYTHONPATH: pythonPath(workspace.repository, workspace.pythonFolders),
    NODE_COMPILE_CACHE: join(workspace.state.memory, "node"),
    MLRB_STAGE: stageFile,
    MLRB_WORK: work,
    ...(python && { MLRB_PYTHON: python, VIRTUAL_ENV: dirname(dirname(python)) }),
    ...hubVariables(instance, workspace),
    ...gatewayVariables(instance, workspace),
    ...paidAnswers(instance, workspace)?.variables(work),
    ...action.env,
  };
  // a stage that opens what untrusted code made must not write compiled code that later stages run
  if (stage.opens !== undefined) {
    delete env.NODE_COMPILE_CACHE;
    Object.assign(env, realCommands(action.env, env.PATH!));
  }
  for (const name of action.secrets) if (process.env[name] !== undefined) env[name] = process.env[name]!;
  if (stage.untrusted && execution.executor === "docker") {
    // a supervisor of container sandboxes asks the same engine as this program
    const own = process.env.HOME && join(process.env.HOME, ".docker");
    if (own && existsSync(own)) env.DOCKER_CONFIG = own;
    Object.assign(env, inherited(/^(DOCKER_|CONTAINER_HOST$|MLRB_CONTAINER_ENGINE$|XDG_RUNTIME_DIR$)/));
  }
  if (isBuild) {
    // the one stage that uses the network does so with the user's settings: proxies, certificates, caches
    const names = /^(PIP_|SSL_|REQUESTS_|CURL_CA|XDG_)|_proxy$|_PROXY$|^(HOME|MLRB_BASE_PYTHON)$/;
    Object.assign(env, inherited(names));
    const base = findPython(workspace.state.memory);
    if (base) env.MLRB_BASE_PYTHON = base.path;
  }
  return env;
}
