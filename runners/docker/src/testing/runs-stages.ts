// A runner for tests to kill: starts the stages in `requests.json` of a folder; with a second
// argument, in containers that end with it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DockerExecutor } from "../docker-executor.ts";

const [, , place = "", held] = process.argv;
const requests = JSON.parse(readFileSync(join(place, "requests.json"), "utf8"));
const executor = new DockerExecutor({
  root: requests[0].root,
  state: join(place, ".mlrb"),
  run: "killed",
  held: held !== undefined,
  isLive: () => false,
  take: () => true,
});
await Promise.all(
  requests.map((request: Parameters<typeof executor.start>[0]) => executor.start(request).ended),
);
