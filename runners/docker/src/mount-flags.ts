// Mounts as flags: `--mount` and never `-v`, which would create a missing folder as root.
import type { ImageReference } from "@mlrb/core/spec/image-reference";
import { hostFolders } from "./host-image.ts";

export type Mount = { source: string; target?: string; writable?: boolean };

/** Each target is mounted once: the last mount of it counts. */
export function mountFlags(mounts: readonly Mount[]): string[] {
  const places = new Map(mounts.map((mount) => [mount.target ?? mount.source, mount]));
  return [...places].flatMap(([target, { source, writable }]) => [
    "--mount",
    ["type=bind", `source=${source}`, `target=${target}`, ...(writable ? [] : ["readonly"])]
      .map(field)
      .join(","),
  ]);
}

/** The host image has no programs of its own: it shows the host's system folders. */
export function imageMounts({ kind }: ImageReference): Mount[] {
  return kind === "host" ? hostFolders().map((source) => ({ source })) : [];
}

/** The flag's value is a line of CSV. */
function field(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
