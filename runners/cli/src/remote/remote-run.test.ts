import assert from "node:assert/strict";
import { test } from "node:test";
import { remoteWords } from "./remote-run.ts";

const none = { taken: 0, takenBytes: 0, rejected: 0, sent: 0, sentBytes: 0, unsent: 0 };

test("the line of a run names what was rejected and not sent only where there is such a result", () => {
  assert.equal(
    remoteWords({ ...none, taken: 1, takenBytes: 2048, sent: 12, sentBytes: 3 << 20 }),
    "remote cache: 1 result taken (2.0 KiB), 12 sent (3.0 MiB)",
  );
  assert.match(remoteWords({ ...none, rejected: 2, unsent: 3 }), /, 2 rejected, 3 not sent$/);
});
