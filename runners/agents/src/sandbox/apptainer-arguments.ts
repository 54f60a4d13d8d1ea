// The command line of Apptainer for one sandbox, from its documentation (the manual of `apptainer exec`, "Bind Paths and
// Mounts", "Network virtualization"). What is not mounted here is not shown: `--containall` leaves out home, /tmp and the
// caller's variables, `--no-mount` the site's own bind paths. Pure.
import { dirname } from "node:path";

export type ApptainerMount = { source: string; target: string; writable?: boolean };

export type ApptainerSandbox = {
  /** A folder with a root file system, or a SIF file. */
  image: string;
  mounts: readonly ApptainerMount[];
  network: boolean;
  /** Whether NVIDIA's driver is added to the image. */
  driver: boolean;
};

/** Without the program that runs inside. */
export function apptainerArguments({ image, mounts, network, driver }: ApptainerSandbox): string[] {
  return [
    ...["--quiet", "exec", "--userns", "--containall", "--no-home", "--no-init"],
    ...["--no-mount", "sys,hostfs,cwd,bind-paths"],
    ...(network ? [] : ["--net", "--network", "none"]),
    ...(driver ? ["--nv"] : []),
    ...["--hostname", "sandbox", "--pwd", "/"],
    // a folder before what is in it, which it would cover
    ...[...mounts].sort((a, b) => depth(a.target) - depth(b.target)).flatMap(mountFlag),
    image,
  ];
}

function depth(path: string): number {
  return path === "/" ? 0 : 1 + depth(dirname(path));
}

/** A line of CSV: `--bind` has no way to write a path with a colon. */
function mountFlag({ source, target, writable }: ApptainerMount): string[] {
  const fields = ["type=bind", `source=${source}`, `destination=${target}`, ...(writable ? [] : ["ro"])];
  return ["--mount", fields.map(quoted).join(",")];
}

function quoted(field: string): string {
  return /[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
