// The remote cache in a run: opens it, waits for what is still to be sent, and prints what it did.

import { counted } from "@mlrb/core/text/counted";
import { formatBytes } from "@mlrb/core/text/units";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import type { RemoteCache, RemoteUse } from "@mlrb/local/remote/remote-cache";
import type { Workspace } from "@mlrb/local/store/workspace";
import type { RemoteMode } from "../request/run-invocation.ts";
import { oneLine, printJson } from "../show/print.ts";

/** How long a run that has ended waits for results that are still to be sent. */
const waitMs = 5 * 60_000;

/** Loads the code only where a remote cache is set. */
export async function openRemote(
  mode: RemoteMode | undefined,
  workspace: Workspace,
): Promise<RemoteCache | Diagnostic | undefined> {
  if (mode === "off" || (mode === undefined && !process.env.MLRB_REMOTE_CACHE)) return undefined;
  const { remoteSettings } = await import("./remote-settings.ts");
  const settings = remoteSettings(mode, { env: process.env, state: workspace.state.state });
  if (settings === undefined || "code" in settings) return settings;
  const { RemoteCache } = await import("@mlrb/local/remote/remote-cache");
  return new RemoteCache(settings, workspace, (line) => void process.stderr.write(`${oneLine(line)}\n`));
}

/** An interrupted run does not wait. */
export async function endRemote(
  remote: RemoteCache | undefined,
  { interrupts, json }: { interrupts: number; json: boolean },
): Promise<void> {
  if (!remote) return;
  const { waiting } = remote;
  if (waiting > 0 && interrupts === 0 && !json)
    process.stderr.write(
      `sending ${counted(waiting, "result")} to the remote cache; Ctrl-C ends the program, and loses nothing here\n`,
    );
  const use = await remote.end(interrupts > 0 ? 0 : waitMs);
  if (json) printJson({ event: "remote-cache", ...use });
  else process.stderr.write(`${remoteWords(use)}\n`);
}

export function remoteWords({ taken, takenBytes, rejected, sent, sentBytes, unsent }: RemoteUse): string {
  const parts = [
    `${counted(taken, "result")} taken (${formatBytes(takenBytes)})`,
    `${sent} sent (${formatBytes(sentBytes)})`,
    ...(rejected > 0 ? [`${rejected} rejected`] : []),
    ...(unsent > 0 ? [`${unsent} not sent`] : []),
  ];
  return `remote cache: ${parts.join(", ")}`;
}
