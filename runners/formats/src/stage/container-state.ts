// What docker and podman answer to `inspect` of a container: its state, and of those of stages more.
import { anyText, flag, openObject, type TypeOf, tableOf, wholeObject } from "../schema.ts";

export const containerState = openObject(
  {
    Status: {
      ...anyText,
      description:
        "created, running, paused, restarting, removing, exited, dead; podman says stopped as well",
    },
    ExitCode: { type: "integer" },
    OOMKilled: {
      ...flag,
      description: "something in it was killed for lack of memory, a child of the program too",
    },
    Error: { ...anyText, description: "why it could not be started" },
    StartedAt: anyText,
  },
  ["Status", "ExitCode", "OOMKilled", "StartedAt"],
);
export type ContainerState = TypeOf<typeof containerState>;

export const inspectedContainer = wholeObject({
  id: anyText,
  created: anyText,
  state: containerState,
  labels: tableOf(anyText),
});
