// The environment that every file of tests gets, whatever the terminal, locale and time zone of the person
// or the machine that starts the suite. A test that needs another value sets it itself.

/** Values that a program could read without the test's knowing. */
const fixed = { TERM: "dumb", LANG: "C.UTF-8", LC_ALL: "C.UTF-8", TZ: "UTC" };

/** What may differ between machines: where things are, how to reach a package index, and how to run the suite. */
const passed =
  /^(PATH|HOME|TMPDIR|UPDATE_GOLDEN|DOCKER_HOST|MLRB_(SWEEP|KILL_SEED|TEST_\w+)|NODE_EXTRA_CA_CERTS|(PIP|UV|SSL|REQUESTS|CURL_CA|npm_config)_\w+|\w+_proxy)$/i;

/** `given` without what tests must not depend on, with the fixed values, and with `own` on top. */
export function testEnvironment(
  given: Record<string, string | undefined>,
  own: Record<string, string> = {},
): Record<string, string> {
  const kept = Object.entries(given).filter(
    (entry): entry is [string, string] => passed.test(entry[0]) && entry[1] !== undefined,
  );
  return { ...Object.fromEntries(kept), ...fixed, ...own };
}
