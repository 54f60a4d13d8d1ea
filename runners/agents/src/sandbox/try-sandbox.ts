// Tries a sandbox without an agent: a program on its devices, and a snapshot of what a program wrote.
import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import type { Gpu } from "@mlrb/core/ports/gpu";
import type { ExecResult, Sandbox } from "@mlrb/core/ports/sandbox";
import { type ProgramPlace, pathInside, programVariables } from "./device-variables.ts";
import { SandboxTrouble } from "./sandbox-trouble.ts";

const outputMax = 64 << 10;
const workspace = "workspace";

export type TriedProgram = {
  /** Host files and folders by their names inside; the first is the program. */
  files: Record<string, string>;
  args: string[];
  /** Modules are imported from this one of `files`. */
  modules: string;
  /** The name of the file that the program writes, in the workspace. */
  result: string;
};

export type TriedPlace = ProgramPlace & {
  gpus: readonly Gpu[];
  /** An empty host folder. */
  scratch: string;
};

/** Runs a Python program; returns the text of its result. Throws SandboxTrouble if it fails. */
export async function tryProgram(
  sandbox: Sandbox,
  { files, args, modules, result }: TriedProgram,
  place: TriedPlace,
): Promise<string> {
  await prepareInside(sandbox, place);
  for (const [name, from] of Object.entries(files)) await sandbox.put(from, `program/${name}`);
  const inside = (name: string) => sandbox.seenAs(`program/${name}`);
  const [program] = Object.keys(files);
  const argv = [place.python ?? "python3", inside(program!), ...args];
  const env = { ...programVariables(sandbox, place), PYTHONPATH: inside(modules) };
  await runInside(sandbox, argv, { ...place, env });
  const bytes = await sandbox.get(`${workspace}/${result}`, { from: 0, bytesMax: outputMax });
  if (bytes === undefined) throw new SandboxTrouble(`the program ended and left no ${result}`);
  return Buffer.from(bytes).toString("utf8");
}

/**
 * Takes a snapshot of a workspace in which a program wrote `bytes` random bytes, and compares its digest with the
 * program's. Returns the time of the snapshot. Throws SandboxTrouble if they differ.
 */
export async function trySnapshot(
  sandbox: Sandbox,
  place: TriedPlace & { bytes: number },
): Promise<{ ms: number }> {
  const { bytes, scratch } = place;
  const file = sandbox.seenAs(`${workspace}/weights.bin`);
  const script = `head -c ${bytes} /dev/urandom > ${file} && sha256sum < ${file}`;
  await prepareInside(sandbox, place);
  const said = await runInside(sandbox, ["sh", "-c", script], { ...place, env: {} });
  const request = {
    inside: workspace,
    to: join(scratch, "snapshot"),
    limits: { bytesMax: 2 * bytes, filesMax: 100 },
  };
  const begin = performance.now();
  const taken = await sandbox.snapshot(request);
  const ms = performance.now() - begin;
  if (taken.kind !== "taken") throw new SandboxTrouble(`no snapshot was taken: ${taken.kind}`);
  const copied = taken.tree.files.find(({ path }) => path === "weights.bin");
  const written = said.slice(0, 64);
  if (copied?.bytes !== bytes || copied.digest.replace(/^sha256:/, "") !== written)
    throw new SandboxTrouble(
      `the snapshot has ${copied?.bytes ?? 0} bytes with the digest ${copied?.digest ?? "of nothing"}, the program wrote ${bytes} with ${written}; look for errors of the disk (dmesg)`,
    );
  const again = await sandbox.snapshot({ ...request, to: join(scratch, "again"), unless: taken.state });
  if (again.kind !== "unchanged")
    throw new SandboxTrouble("a second snapshot of the unchanged workspace was copied again");
  return { ms };
}

/** Makes the workspace. Call it before a program runs. */
export async function prepareInside(
  sandbox: Sandbox,
  { scratch }: Pick<TriedPlace, "scratch">,
): Promise<void> {
  await mkdir(scratch, { recursive: true });
  await sandbox.put(await mkdtemp(join(scratch, "empty-")), workspace);
}

/** Resolves with the program's standard output. Throws SandboxTrouble if the program fails, after printing its errors. */
export async function runInside(
  sandbox: Sandbox,
  argv: string[],
  { env, ...place }: TriedPlace & { env: Record<string, string> },
): Promise<string> {
  const said = { stdout: "", stderr: "" };
  const path = pathInside(place);
  const ended = await sandbox.exec({
    argv,
    cwd: sandbox.seenAs(workspace),
    env: { ...(path !== undefined && { PATH: path }), ...env },
    onOutput(stream, bytes) {
      said[stream] = (said[stream] + Buffer.from(bytes).toString("utf8")).slice(-outputMax);
    },
  });
  if (ended.kind === "exited" && ended.code === 0 && !ended.over) return said.stdout;
  console.error(said.stderr.trim());
  throw new SandboxTrouble(
    `${argv[0]} failed in the sandbox: ${[...endWords(ended), causeLine(said.stderr)].filter(Boolean).join("; ")}`,
  );
}

/** The line of a traceback that names the exception, which may be followed by advice; else the last line. */
function causeLine(stderr: string): string {
  const lines = stderr.trim().split("\n");
  return lines.findLast((line) => /^[\w.]*(Error|Exception|Interrupt)\b/.test(line)) ?? lines.at(-1) ?? "";
}

function endWords(ended: ExecResult): string[] {
  if ("detail" in ended) return [ended.detail];
  const how = ended.kind === "exited" ? `exit status ${ended.code}` : `ended by ${ended.signal}`;
  return [how, ended.over?.detail ?? ""];
}
