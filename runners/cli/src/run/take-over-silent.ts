// Takes over the leases of hosts that have fallen silent, before a run begins.
import { formatDuration } from "@mlrb/core/text/units";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { ownerWords } from "@mlrb/local/leases/owner";
import { takeOver } from "@mlrb/local/leases/take-over";
import type { Workspace } from "@mlrb/local/store/workspace";
import { printJson } from "../show/print.ts";

/** Takes the leases of hosts that send no heartbeat for `silentMs`, and prints which. */
export async function takeOverSilent(
  { state }: Workspace,
  { silentMs, json }: { silentMs: number | undefined; json: boolean },
): Promise<void> {
  const say = (text: string) => json || process.stderr.write(`${text}\n`);
  const watching = (owner: Owner, ms: number) =>
    say(`watching ${ownerWords(owner)} for a heartbeat, ${formatDuration(ms)} at most`);
  for (const owner of await takeOver(state, { silentMs, watching })) {
    say(`taken over from ${ownerWords(owner)}: it was silent`);
    const { host, pid, since } = owner;
    if (json) printJson({ event: "take-over", host, pid, since });
  }
}
