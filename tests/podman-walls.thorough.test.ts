// Hostile programs in a sandbox in podman, in a real podman of this user.
import { podmanWalls } from "./support/machines/podman-maker.ts";
import { sandboxSuite } from "./support/sandboxes/sandbox-suite.ts";
import { startTrouble } from "./support/sandboxes/start-trouble.ts";

sandboxSuite({
  name: "podman",
  maker: new URL("./support/machines/podman-maker.ts", import.meta.url).href,
  skip: await startTrouble("podman", podmanWalls),
  hostLoopback: false,
});
