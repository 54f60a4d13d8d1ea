// The program `check-submission` in an agent's workspace: a script that starts the benchmark's own code, which the
// sandbox shows read-only at its path on the host. This code is in no key of an attempt: it judges, and it is no
// task.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { shellWord } from "@mlrb/core/ports/command-line";
import { pythonPath } from "@mlrb/kit/python-path";
import type { CheckScript } from "./attempt-request.ts";
import { inside } from "./workspace.ts";

/** `reads`: host files and folders that the program needs inside. */
type SubmissionCheck = CheckScript & { reads: string[] };

/** What the program imports of the runner. */
const runners = [
  ...["admission", "check-submission", "processes", "safetensors"].map((name) => `kit/src/${name}`),
  ...["kit/src/files/opened-file.ts", "kit/src/json-file.ts", "kit/package.json", "kit/node_modules"],
  ...["formats/src", "formats/package.json"],
];

/**
 * `module` is the Python module with the checks that need a model; it and the kit are imported from `folders` of
 * the repository. `memoryBytes` limits the agent's programs: the check takes half of it at most, so that a folder
 * that asks for too much ends no attempt. In an image of the agent's own nothing of the host is shown, because
 * folders of the image could be hidden: the script then says that nothing was checked.
 */
export function submissionCheck(
  repository: string,
  module: string,
  {
    folders,
    memoryBytes,
    ownImage = false,
  }: { folders: string[]; memoryBytes?: number | undefined; ownImage?: boolean },
): SubmissionCheck {
  const program = fileURLToPath(import.meta.resolve("@mlrb/kit/check-submission/check-submission"));
  if (ownImage)
    return {
      reads: [],
      script: () =>
        "#!/bin/sh\necho 'undecided admission: an attempt in an image of its own cannot be checked from inside'\n",
    };
  return {
    reads: [
      process.execPath,
      ...runners.map((path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))),
      ...folders.map((folder) => join(repository, folder)),
    ],
    script(sandbox, python) {
      const given = {
        ...{ python: python ?? "python3", module, "python-path": pythonPath(repository, folders) },
        ...{ data: sandbox.seenAs(inside.data), submission: sandbox.seenAs(inside.submission) },
        ...(memoryBytes !== undefined && { memory: String(Math.floor(memoryBytes / 2)) }),
      };
      const flags = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
      const argv = [process.execPath, "--disable-warning=ExperimentalWarning", program, ...flags];
      return `#!/bin/sh\nexec ${argv.map(shellWord).join(" ")} "$@"\n`;
    },
  };
}
