// The channel between this host and a job, from the job's beginning to its end.
import type { JobFolder } from "./job-folder.ts";
import type { JobRun } from "./job-run.ts";
import { RelayChannel, type RelayChannelOptions } from "./relay/relay-channel.ts";
import { StageLog } from "./stage-log.ts";

type Ends = Pick<RelayChannelOptions, "server" | "env"> & { folder: JobFolder };

/** Opens the channel once the job has begun. Call the result at the job's end. */
export function openChannel(run: JobRun, { folder, ...ends }: Ends): () => Promise<void> {
  let channel: RelayChannel | undefined;
  let isOver = false;
  void run.began.then((place) => {
    const { relay } = folder.begun() ?? {};
    if (isOver || relay === undefined) return;
    const broke = (detail: string) =>
      new StageLog(folder.job()?.log ?? "").say(`the channel to ${place.node} broke: ${detail}`);
    channel = new RelayChannel({ ...ends, job: place.job, socket: relay, broke });
  });
  return async () => {
    isOver = true;
    await channel?.close();
  };
}
