// Downloads of an attempt in containers of a real engine.
import { after } from "node:test";
import { dockerWalls } from "@mlrb/docker/docker-walls";
import { testEngine } from "./support/machines/docker-engine.ts";
import { downloadSuite } from "./support/sandboxes/download-suite.ts";

const engine = await testEngine();
const skip = "skip" in engine ? engine.skip : undefined;
if (!("skip" in engine)) {
  Object.assign(process.env, engine.env);
  after(() => engine.stop());
}

downloadSuite({ kind: "docker", open: dockerWalls }, skip);
