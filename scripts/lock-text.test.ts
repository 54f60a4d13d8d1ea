import assert from "node:assert/strict";
import { test } from "node:test";
import { type Pin, readLock } from "../pipelines/steps/environment/lock-file.ts";
import { lockChanges, lockText, resolvedPins } from "./lock-text.ts";

const [one, two] = ["1", "2"].map((digit) => `sha256:${digit.repeat(64)}`);

const input = `# What it is for.
# warm: import b

# section: unhashed
# Any build.
# leave: cuda-* triton
heavy==1.0

# section: wheels
B_b>=2  # a reason
# section: sources
# No wheel of it.
s
# section: optional
# only: py3-none-x y
# without: Less.
o
`;

const resolved = `triton==9 ; sys_platform == 'linux' \\
    --hash=${one}
cuda-core==9 \\
    --hash=${one}
heavy==1.0 \\
    --hash=${one}
s==3 \\
    --hash=${one}
o==4 \\
    --hash=${one}
b-b==2.1 ; python_version < '3.11' \\
    --hash=${one} \\
    --hash=${two}
a==5 \\
    --hash=${two}
`;

test("a lock has the comments of its .in file and each pin in its section, without packages left to builds", () => {
  const text = lockText(input, resolvedPins(resolved), "folder/x.in");
  assert.equal(
    text,
    `# Made by scripts/update-environment.ts from x.in, which is what to edit.
# What it is for.
# warm: import b

# section: unhashed
# Any build.
# leave: cuda-* triton
heavy==1.0

# section: wheels
a==5 \\
    --hash=${two}
b-b==2.1 ; python_version < '3.11' \\
    --hash=${one} \\
    --hash=${two}

# section: sources
# No wheel of it.
s==3 \\
    --hash=${one}

# section: optional
# only: py3-none-x y
# without: Less.
o==4 \\
    --hash=${one}
`,
  );
  assert.ok("pins" in readLock(text as string, "x.lock"));
});

test("an unhashed requirement must be a pin, and dependencies need a section", () => {
  assert.deepEqual(lockText("# section: unhashed\nheavy>=1\n", [], "x.in"), {
    problems: [
      'x.in:2: "heavy>=1" is not NAME==VERSION, which section unhashed needs',
      'x.in: it has no line "# section: wheels", where dependencies belong',
    ],
  });
});

test("changes list added, removed and moved pins, and pins with other files at the same version", () => {
  const pins = (text: string): Pin[] => {
    const lock = readLock(text, "x.lock");
    assert.ok("pins" in lock);
    return lock.pins;
  };
  const hash = (digest = one) => ` --hash=${digest}\n`;
  const before = pins(
    `# section: wheels\ngone==1${hash()}same==1${hash()}files==1${hash()}new_er==1${hash()}built==1${hash()}`,
  );
  const after = pins(
    `# section: wheels\nsame==1${hash()}files==1${hash(two)}New-er==2 ; x == 'y'${hash()}came==1${hash()}# section: sources\nbuilt==1${hash()}`,
  );
  assert.deepEqual(lockChanges(before, after), [
    "~ built 1: now in section sources",
    "+ came 1",
    "~ files 1: 1 more files, 1 fewer",
    "- gone 1",
    "~ New-er 1 -> 2 ; x == 'y'",
  ]);
});
