// The answer of docker and podman to `inspect` of a container: its state, and more for containers of stages.
import * as t from "../schema.ts";

export const containerState = t.wholeExcept(["Error"], {
  Status: t.about(
    t.anyText,
    "created, running, paused, restarting, removing, exited, dead; podman also has stopped",
  ),
  ExitCode: { type: "integer" },
  OOMKilled: t.about(t.flag, "a process in it was killed for lack of memory, perhaps a child of the program"),
  Error: t.about(t.anyText, "why it could not be started"),
  StartedAt: t.anyText,
});
export type ContainerState = t.TypeOf<typeof containerState>;

export const inspectedContainer = t.wholeObject({
  id: t.anyText,
  created: t.anyText,
  state: containerState,
  labels: t.tableOf(t.anyText),
});
