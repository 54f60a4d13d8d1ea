// Hostile programs in the sandbox of a node with podman, in a real podman of this user.
import { startTrouble } from "@mlrb/agents/sandbox/start-trouble";
import { podman } from "@mlrb/docker/podman-on-node";
import { sandboxSuite } from "./support/sandboxes/sandbox-suite.ts";

sandboxSuite({
  name: "podman",
  maker: new URL("./support/machines/podman-maker.ts", import.meta.url).href,
  skip: (await podman.missing()) ?? (await startTrouble("podman", podman.open)),
  hostLoopback: false,
});
