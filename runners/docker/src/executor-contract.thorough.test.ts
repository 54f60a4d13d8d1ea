// The Docker executor as the engine relies on it, with a real engine.
import { after, before } from "node:test";
import { executorContract } from "../../../tests/support/executor-contract.ts";
import { type TestEngine, testEngine } from "../../../tests/support/machines/docker-engine.ts";
import { DockerExecutor } from "./docker-executor.ts";

let engine: TestEngine;
let why: string | false = false;
before(async () => {
  const started = await testEngine();
  if ("skip" in started) why = started.skip;
  else engine = started;
});
after(() => engine?.stop());

executorContract(
  "docker",
  ({ root, work, run, isLive, take }) =>
    new DockerExecutor({ root, state: work, run, isLive, take, env: engine.env }),
  { skip: () => why, adopts: true },
);
