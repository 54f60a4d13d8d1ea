import assert from "node:assert/strict";
import { test } from "node:test";
import { installCause } from "./install-cause.ts";

const context = { lock: "x.lock", machine: "Python 3.12.1 on linux arm64", exitCode: 1 };
const cause = (said: string) => installCause(said, context);

test("a full disk is reported with the needed space", () => {
  const said =
    "Traceback (most recent call last):\n  File \"shutil.py\", line 241, in copyfile\nOSError: [Errno 28] No space left on device: '/env/lib/python3.11/site-packages/pip/__init__.py'";
  assert.match(cause(said), /^the disk is full; .* about 2 GB.*--root/);
});

test("a Python without venv is reported with the package that installs venv", () => {
  const debian =
    "The virtual environment was not created successfully because ensurepip is not\navailable.  On Debian/Ubuntu systems, you need to install the python3-venv\npackage using the following command.\n\n    apt install python3.11-venv";
  for (const said of [debian, "/usr/bin/python3: No module named venv", "No module named ensurepip"])
    assert.match(cause(said), /cannot make environments; .*apt install python3-venv/, said);
});

test("a lost network is distinguished from a missing build, though pip ends with the same line", () => {
  const last =
    "ERROR: Could not find a version that satisfies the requirement idna==3 (from versions: none)\nERROR: No matching distribution found for idna==3";
  const retrying =
    "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(\"Failed to establish a new connection: [Errno -3] Temporary failure in name resolution\")'\n";
  assert.match(cause(retrying + last), /cannot be reached/);
  assert.match(cause(last), /no build of idna==3 for Python 3\.12\.1 on linux arm64; x\.lock is made for/);
});

test("every package with an unpinned file is named once", () => {
  const said = `ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package versions, please update the hashes.
    six==1.17.0 from file:///six-1.17.0-py2.py3-none-any.whl (from -r wheels.txt (line 1)):
        Expected sha256 00
             Got        4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274

    async-timeout==5.0.1; python_full_version < "3.11" from file:///async.whl (from -r wheels.txt (line 3)):
        Expected sha256 00
             Got        aa`;
  assert.match(
    cause(said),
    /sent a file for six==1\.17\.0, async-timeout==5\.0\.1 that x\.lock does not pin/,
  );
});

test("uv's failures have the same causes", () => {
  const failed = "error: Failed to download `six==1.17.0`\n  cause: ";
  const cases: [said: string, cause: RegExp][] = [
    [
      `${failed}Failed to write to the cache\n  cause: No space left on device (os error 28)`,
      /^the disk is full/,
    ],
    [`${failed}Hash mismatch for \`six==1.17.0\``, /sent a file for six==1\.17\.0 that x\.lock does not pin/],
    [
      `${failed}Failed to extract archive: six.whl\n  cause: deflate decompression error`,
      /file for six==1\.17\.0/,
    ],
    [
      `${failed}error decoding response body\n  cause: end of file before message length`,
      /cannot be reached/,
    ],
    [
      "error: Failed to fetch: http://127.0.0.1:1/simple/six/\n  cause: Connection refused (os error 111)",
      /cannot be reached/,
    ],
    [
      "error: No solution found when resolving dependencies\n  cause: Because six==9 has no usable wheels and you require six==9, we can conclude",
      /no build of six==9 for Python 3\.12\.1/,
    ],
  ];
  for (const [said, expected] of cases) assert.match(cause(said), expected, said);
});

test("an unknown failure points to the output", () => {
  assert.equal(cause("Segmentation fault"), "exit status 1; its output is above");
});
