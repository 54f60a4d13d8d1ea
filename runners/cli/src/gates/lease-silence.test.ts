import assert from "node:assert/strict";
import { test } from "node:test";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import { leaseSilence } from "./lease-silence.ts";

test("MLRB_LEASE_SILENCE must be a duration with a unit", () => {
  assert.equal(leaseSilence("90s"), 90_000);
  assert.equal(leaseSilence(""), undefined);
  for (const bad of ["90", "0s", "soon", "-1s"]) {
    const problem = leaseSilence(bad);
    assert.ok(typeof problem === "object", bad);
    assert.equal(
      renderDiagnostic(problem),
      `bad-silence: MLRB_LEASE_SILENCE=${bad} is not a duration
  help: write a number and a unit, e.g. MLRB_LEASE_SILENCE=90s; the default is 60s`,
    );
  }
});
