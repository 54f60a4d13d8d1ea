// The answer of docker and podman to `inspect` of a container: its state, and more for containers of stages.
import { anyText, flag, type TypeOf, tableOf, wholeExcept, wholeObject } from "../schema.ts";

export const containerState = wholeExcept(["Error"], {
  Status: {
    ...anyText,
    description: "created, running, paused, restarting, removing, exited, dead; podman also has stopped",
  },
  ExitCode: { type: "integer" },
  OOMKilled: {
    ...flag,
    description: "a process in it was killed for lack of memory, perhaps a child of the program",
  },
  Error: { ...anyText, description: "why it could not be started" },
  StartedAt: anyText,
});
export type ContainerState = TypeOf<typeof containerState>;

export const inspectedContainer = wholeObject({
  id: anyText,
  created: anyText,
  state: containerState,
  labels: tableOf(anyText),
});
