// A runner for tests to kill: starts the stages in `requests.json` of a folder.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DockerExecutor } from "../docker-executor.ts";

const [, , place = ""] = process.argv;
const requests = JSON.parse(readFileSync(join(place, "requests.json"), "utf8"));
const executor = new DockerExecutor({
  root: requests[0].root,
  state: join(place, ".mlrb"),
  run: "killed",
  isLive: () => false,
  take: () => true,
});
await Promise.all(
  requests.map((request: Parameters<typeof executor.start>[0]) => executor.start(request).ended),
);
