// `pipeline fingerprints make`: writes a fingerprint of each named model, by which the rule on training from
// scratch finds its weights. The declared program reads the model; here nothing is known about weights.
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { pythonPath } from "@mlrb/kit/python-path";
import {
  environmentKey,
  environmentPath,
  environmentPython,
  environmentReady,
} from "@mlrb/local/process/environments";
import { openWorkspace } from "@mlrb/local/store/workspace";
import { refuse } from "../request/refuse.ts";
import { type PlaceOptions, rootFolder, typedIn } from "../request/root-folder.ts";
import { oneLine, printJson, printLine } from "../show/print.ts";

export type FingerprintsOptions = PlaceOptions & { licence: string; source?: string; output?: string };

const folder = "tasks/known-weights";
const program = `${folder}/make.py`;
const lock = "pipelines/environments/ml.lock";
/** All variables that the program gets. */
const passed = ["PATH", "HOME", "HF_TOKEN", "HF_ENDPOINT", "SSL_CERT_FILE", "HTTPS_PROXY", "NO_PROXY"];

type Wanted = { model: string; name: string; source: string; file: string };

/** Returns 1 if a model could not be read; files of the models before it are kept. */
export function fingerprintsMake(
  repository: string,
  models: string[],
  options: FingerprintsOptions,
): 0 | 1 | 2 {
  const output = options.output === undefined ? join(repository, folder) : resolve(typedIn(), options.output);
  const wanted = models.map((model) => wantedOf(model, output, options.source));
  const root = rootFolder(repository, options.root);
  const workspace = openWorkspace({ repository, root, pipeline: "fingerprints", profile: "make" });
  const environment = environmentPath(workspace.state, environmentKey(lock, workspace));
  const files = wanted.flatMap((one) => ("file" in one ? [one.file] : []));
  const problems = [
    ...wanted.filter((one): one is Diagnostic => "code" in one),
    ...files.filter((file, at) => files.indexOf(file) !== at).map(twice),
    ...(environmentReady(environment) ? [] : [notBuilt]),
  ];
  if (problems.length > 0) return refuse(problems, options.json);
  mkdirSync(output, { recursive: true });
  for (const one of wanted as Wanted[]) {
    if (!make(one, options.licence, { repository, python: environmentPython(environment) })) {
      process.stderr.write(`not-made: ${oneLine(one.model)} has no fingerprint; the cause is above\n`);
      return 1;
    }
    if (options.json) printJson({ event: "fingerprint", model: one.model, file: one.file });
    else printLine(one.file);
  }
  return 0;
}

const problem = (code: string, message: string, help: string): Diagnostic => ({ code, message, help });

const notBuilt = problem(
  "no-environment",
  `the Python environment of ${lock} is not built`,
  "`pnpm pipeline run hello` builds it; then repeat this command",
);

function twice(file: string): Diagnostic {
  const help = "make them one by one, each with another folder in --output";
  return problem("exists", `two of the models would be written to ${oneLine(file)}`, help);
}

function wantedOf(model: string, output: string, source: string | undefined): Wanted | Diagnostic {
  const path = resolve(typedIn(), model);
  const local = existsSync(path) && statSync(path).isDirectory();
  const [repositoryName = ""] = model.split("@");
  const name = (local ? path : repositoryName).split("/").at(-1)!;
  const shown = oneLine(model);
  if (!local && !/^[\w.-]+\/[\w.-]+(@[\w./-]+)?$/.test(model)) {
    const help = "name a folder of safetensors, or a model of a hub as owner/name or owner/name@revision";
    return problem("unknown-model", `${shown} is no folder, and no owner/name of a hub`, help);
  }
  if (local && source === undefined) {
    const message = `nothing says where the weights in ${shown} come from`;
    return problem("no-source", message, "--source states their origin and version");
  }
  const file = join(output, `${name}.json`);
  if (existsSync(file)) {
    const help = "remove it to make it again, or name another folder with --output";
    return problem("exists", `${oneLine(file)} exists`, help);
  }
  return { model: local ? path : model, name, source: source ?? `hub ${model}`, file };
}

/** Whether the whole file could be made; a part is removed. */
function make(
  { model, name, source, file }: Wanted,
  licence: string,
  { repository, python }: { repository: string; python: string },
): boolean {
  const part = `${file}.part`;
  const to = openSync(part, "w");
  const given = passed.flatMap((one) => (process.env[one] ? [[one, process.env[one]]] : []));
  const { status } = spawnSync(python, ["-B", join(repository, program), model, name, source, licence], {
    cwd: repository,
    env: { ...Object.fromEntries(given), PYTHONPATH: pythonPath(repository) },
    stdio: ["ignore", to, "inherit"],
  });
  closeSync(to);
  if (status === 0) renameSync(part, file);
  else rmSync(part, { force: true });
  return status === 0;
}
