// The channel between this host and a job, from the job's beginning to its end.
import type { Duplex } from "node:stream";
import type { Running } from "@mlrb/core/ports/executor";
import { passTo } from "@mlrb/kit/services/join-streams";
import { isOwnPort } from "@mlrb/kit/services/own-connection";
import { sayAway } from "@mlrb/kit/services/say-away";
import type { JobFolder } from "./job-folder.ts";
import type { JobRun } from "./job-run.ts";
import { answerMs } from "./relay/end-if-silent.ts";
import { RelayChannel, type RelayChannelOptions } from "./relay/relay-channel.ts";
import { ServiceDoor } from "./relay/service-door.ts";
import { serviceCallsMax, takeStreams } from "./relay/streams.ts";
import { StageLog } from "./stage-log.ts";

type Ends = Pick<RelayChannelOptions, "server" | "program" | "env"> & { folder: JobFolder };

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

/** What a job has to do with services: `port` leads to the one that it is, `services` to the one that it uses. */
export type Reach = { port?: number; services?: Record<string, string> };

/** The doors of a run's services, each at one port for the whole run. */
export class ServiceDoors {
  readonly #doors = new Map<number, ServiceDoor>();

  at(port: number): ServiceDoor {
    const door = this.#doors.get(port) ?? new ServiceDoor(port);
    this.#doors.set(port, door);
    door.listening.catch(() => this.#doors.delete(port));
    return door;
  }
}

/** The job with its way to or from a service, if it has to do with one. */
export function withReach(
  run: JobRun,
  {
    port,
    services = {},
    doors,
    ...ends
  }: Reach & {
    folder: JobFolder;
    env: NodeJS.ProcessEnv;
    doors: ServiceDoors;
  },
): Running {
  const [used] = Object.values(services);
  if (port === undefined && used === undefined) return run;
  let failed: Error | undefined;
  const door = port === undefined ? undefined : doors.at(port);
  door?.listening.catch((error: Error) => {
    failed = error;
    run.kill();
  });
  const close = openChannel(run, {
    ...ends,
    ...(door ? { server: door, program: "service-node.ts" } : { server: callsTo(new URL(used!)) }),
  });
  const ended = run.ended.then(async (result) => {
    door?.hangUp();
    await close();
    if (!failed) return result;
    const detail = `port ${port} of this host cannot lead to the service: ${failed.message}`;
    return { kind: "failed" as const, cause: "machine" as const, detail };
  });
  return { ended, began: run.began, askToEnd: () => run.askToEnd(), kill: () => run.kill() };
}

/** Takes the calls of a job that uses the service at `url`, an address of this host. */
export function callsTo({ port }: URL, isOwn = isOwnPort): RelayChannelOptions["server"] {
  const address = { host: "127.0.0.1", port: Number(port) };
  const most = serviceCallsMax;
  // between two starts of a service that is no job, its port is free for other users' programs
  const take = (stream: Duplex) => (isOwn(address.port) ? passTo(stream, address) : sayAway(stream));
  return { serve: (channel) => takeStreams(channel, { most, answerMs, take }) };
}
