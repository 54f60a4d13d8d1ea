// Whether Apptainer can be asked to isolate untrusted programs here. Written from its documentation: it has never run on a
// machine of this project's developers.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { seccompFilter } from "@mlrb/kit/processes/seccomp-filter";
import { trialMs } from "@mlrb/kit/processes/trial-limit";
import { execa } from "execa";

export type ApptainerAbilities = { program: string; version: string };

export async function apptainerAbilities({
  env = process.env,
  uid = process.getuid?.(),
}: {
  env?: NodeJS.ProcessEnv;
  uid?: number | undefined;
} = {}): Promise<ApptainerAbilities | { missing: string }> {
  const program = onPath("apptainer", env.PATH ?? "");
  if (program === undefined) return { missing: "apptainer is not installed" };
  const no = (why: string) => ({ missing: `apptainer cannot be used here: ${why}` });
  if (uid === 0) return no("this process is root, and programs inside would have root's rights to files");
  if (!seccompFilter())
    return no(`the filter of system calls exists for x64 and arm64, this is ${process.arch}`);
  const asked = await execa(program, ["--version"], { reject: false, timeout: trialMs, stdin: "ignore" });
  const said = asked.stdout ?? "";
  const [, version, major, minor] = /((\d+)\.(\d+)[.\d]*)/.exec(said) ?? [];
  if (asked.timedOut) return no("`apptainer --version` did not answer, as on a machine that is too busy");
  if (asked.failed || version === undefined) return no("`apptainer --version` names no version");
  if (Number(major) < 1 || (Number(major) === 1 && Number(minor) < 1))
    return no(`it is ${version}, and 1.1 or newer is needed`);
  return { program, version };
}

function onPath(program: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
