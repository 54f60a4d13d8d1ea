import assert from "node:assert/strict";
import { test } from "node:test";
import { readLock } from "./lock-file.ts";
import { leftOutText, pipParts } from "./pip-parts.ts";

const hash = `sha256:${"a".repeat(64)}`;
const text = `# section: unhashed
heavy==1
# section: wheels
a==1.0 ; python_version < "3.11" \\
    --hash=${hash} \\
    --hash=${hash}
# section: optional
# only: one two
# without: Less is measured.
b==2 --hash=${hash}
c==3 --hash=${hash}
# section: alone
lonely==4 --hash=${hash}
`;

test("an optional pin is installed with the wheels only if one of its tags fits", () => {
  const lock = readLock(text.replace(/^c==.*\n/m, ""), "x.lock");
  assert.ok("pins" in lock);
  const a = `a==1.0 ; python_version < "3.11" \\\n    --hash=${hash} \\\n    --hash=${hash}\n`;
  assert.deepEqual(pipParts(lock, ["two", "three"]), {
    wheels: `${a}b==2 \\\n    --hash=${hash}\n`,
    sources: "",
    unhashed: "heavy==1\n",
    alone: `lonely==4 \\\n    --hash=${hash}\n`,
    leftOut: [],
  });
  const { leftOut, ...parts } = pipParts(lock, ["three"]);
  assert.equal(parts.wheels, a);
  assert.deepEqual(leftOut.map(leftOutText), [
    "left out: b 2, whose files are for one or two; this machine runs none of them. Less is measured.",
  ]);
});

test("the notes above an optional pin do not apply to the next pin", () => {
  assert.deepEqual(readLock(text, "x.lock"), {
    problems: ['x.lock:11: c: a line "# only: TAG" belongs above each optional pin and no other'],
  });
});
