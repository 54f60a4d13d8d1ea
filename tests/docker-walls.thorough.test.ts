// Sandboxes in containers of a real engine, attacked from inside by the programs that every sandbox must contain.
import { after } from "node:test";
import { testEngine } from "./support/machines/docker-engine.ts";
import { sandboxSuite } from "./support/sandboxes/sandbox-suite.ts";

const engine = await testEngine();
const skip = "skip" in engine ? engine.skip : undefined;
if (!("skip" in engine)) {
  Object.assign(process.env, engine.env);
  after(() => engine.stop());
}

sandboxSuite({
  name: "docker",
  maker: new URL("./support/machines/docker-maker.ts", import.meta.url).href,
  skip,
  hostLoopback: false,
});
