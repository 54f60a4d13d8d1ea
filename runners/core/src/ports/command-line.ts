// The command line of a stage instance, the same on this machine and in a container.
// Pure: the caller passes the path of Node.
import type { ExecutionRequest } from "./executor.ts";
import { nodeFlags } from "./node-flags.ts";
import { nodePermissionFlags } from "./permissions.ts";

type CommandRequest = Pick<
  ExecutionRequest,
  "run" | "root" | "python" | "inputs" | "outputs" | "permissions" | "recorder" | "port" | "services"
>;

/** `node` is the program that runs scripts. */
export function commandLine(
  { run, root, python, inputs, outputs, permissions, recorder, port, services = {} }: CommandRequest,
  node: string,
): string[] {
  switch (run.kind) {
    case "script":
      return [
        node,
        ...nodeFlags,
        ...(permissions ? nodePermissionFlags(permissions) : []),
        ...(recorder === undefined ? [] : [`--require=${recorder}`]),
        `${root}/${run.file}`,
      ];
    case "python":
      if (!python) throw new Error("bug: a python stage without an environment");
      return [python, `${root}/${run.file}`];
    case "command": {
      const paths = new Map<string, string>();
      for (const [name, path] of Object.entries(inputs)) paths.set(`inputs.${name}`, path);
      for (const [name, path] of Object.entries(outputs)) paths.set(`outputs.${name}`, path);
      for (const [name, url] of Object.entries(services)) paths.set(`services.${name}.url`, url);
      if (port !== undefined) paths.set("port", String(port));
      const fill = (text: string, quote: (path: string) => string) =>
        text.replace(/\{((?:inputs|outputs|services)\.[\w.-]+|port)\}/g, (all, name) =>
          paths.has(name) ? quote(paths.get(name)!) : all,
        );
      if (typeof run.command === "string") return ["/bin/sh", "-c", fill(run.command, shellWord)];
      return run.command.map((part) => fill(part, (path) => path));
    }
  }
}

/** A path as one word of a shell line; plain paths stay readable. */
export function shellWord(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

/** The script of a cluster's job that runs `argv`, with `letter` as its standard input: a line of JSON. */
export function jobScript(argv: readonly string[], letter?: string): string {
  const input = letter === undefined ? "" : ` <<'LETTER'\n${letter}\nLETTER`;
  return `#!/bin/sh\nexec ${argv.map(shellWord).join(" ")}${input}\n`;
}
