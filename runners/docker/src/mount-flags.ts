// Mounts as flags: `--mount` and never `-v`, which would make a missing folder, as root.
import { hostFolders } from "./host-image.ts";

export type Mount = { source: string; target?: string; writable?: boolean };

/** One place is mounted once: what is said of it last holds. */
export function mountFlags(mounts: readonly Mount[]): string[] {
  const places = new Map(mounts.map((mount) => [mount.target ?? mount.source, mount]));
  return [...places].flatMap(([target, { source, writable }]) => [
    "--mount",
    ["type=bind", `source=${source}`, `target=${target}`, ...(writable ? [] : ["readonly"])]
      .map(field)
      .join(","),
  ]);
}

export function hostMounts(): Mount[] {
  return hostFolders().map((source) => ({ source }));
}

/** The flag's value is a line of CSV. */
function field(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
