import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceWords } from "./service-words.ts";

test("the hours of a service are those of this run, with the GPU hours of all runs where they are more", () => {
  const now = { service: "model", starts: 1, hours: 0.5, gpuHours: 1 };
  assert.deepEqual(serviceWords([now], [{ ...now, starts: 2, hours: 2, gpuHours: 4 }]), [
    "services: model 0.50 h, 1.00 GPU hours (4.00 in all runs); attempts' GPU hours do not include them",
  ]);
  const short = { service: "double", starts: 1, hours: 0.001, gpuHours: 0 };
  assert.deepEqual(serviceWords([short], [short]), [
    "services: double 0.0010 h, 0 GPU hours; attempts' GPU hours do not include them",
  ]);
});
