// An imported record never replaces an attempt silently: a person chooses, and nothing runs again meanwhile.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { canonicalJson } from "@mlrb/kit/json-file";
import { counted, type Lab, lab, lineOf, outcomes, reasons, results } from "./support/lab.ts";
import type { ProgramOutput } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

/** A state in which one attempt was made, with an archive of it. */
async function attempted(t: TestContext) {
  const at = lab(t, repository);
  at.define({
    stages: {
      attempt: {
        durable: true,
        command: counted(at, "attempt", "echo made here > {outputs.submission}"),
        gives: { submission: "file" },
      },
      summary: {
        collect: ["attempt.submission"],
        command: "cp {inputs.manifest} {outputs.text}",
        gives: { text: "file" },
      },
    },
  });
  assert.equal((await at.run()).code, 0);
  const archive = join(at.outside, "archive");
  assert.equal((await at.pipeline(["attempts", "export", archive, "--root", at.root])).code, 0);
  const [made] = readdirSync(archive);
  return { at, archive, made: made! };
}

/** Copies the archive's record into another archive with other fields, under the digest that fits. */
function forge(
  from: { archive: string; made: string },
  to: string,
  change: (record: { ran: object; slot: object }) => object,
): string {
  const text = readFileSync(join(from.archive, from.made, "record.json"), "utf8");
  const forged = `${canonicalJson(change(JSON.parse(text)), 2)}\n`;
  const digest = createHash("sha256").update(forged).digest("hex");
  cpSync(join(from.archive, from.made), join(to, digest), { recursive: true });
  writeFileSync(join(to, digest, "record.json"), forged);
  return digest;
}

const later = (record: { ran: object }) => ({
  ...record,
  ran: { ...record.ran, startedAt: new Date(Date.now() + 3_600_000).toISOString() },
});

/** What the published manifest says of the attempt. */
const origin = ({ root }: Pick<Lab, "root">) =>
  Object.values(results({ root })).map((text) => JSON.parse(text).members[0].origin)[0];

const attempts = (at: Lab, root: string, ...args: string[]): Promise<ProgramOutput> =>
  at.pipeline(["attempts", ...args, "--root", root]);

test("a forged record with a later date is not used until a person chooses it, and the choice can be taken back", async (t) => {
  const { at, archive, made } = await attempted(t);
  const evil = join(at.outside, "evil");
  const forged = forge({ archive, made }, evil, later);
  const [fake, own] = [forged.slice(0, 12), made.slice(0, 12)];
  const said = await attempts(at, at.root, "import", evil);
  assert.deepEqual([said.code, said.stdout], [0, "1 attempt imported, 1 conflict\n"]);
  assert.ok(
    said.stderr.includes(`${own} (made here) stays current; not used: ${fake} (imported, unsigned)`),
    said.stderr,
  );
  assert.ok(said.stderr.includes(`pnpm pipeline attempts use ${fake}`), said.stderr);
  const listed = await attempts(at, at.root, "list");
  assert.match(listed.stdout, new RegExp(`^${fake} .*imported, unsigned; not used: it competes$`, "m"));
  assert.match(listed.stdout, new RegExp(`^conflict .*${own} \\(made here\\) stays current`, "m"));
  const newest = await attempts(at, at.root, "show", "attempt", "--json");
  assert.equal(newest.lines[0]!.digest, made, "its date makes it no newest attempt");
  const undecided = { kind: "undecided", records: [forged] };
  assert.deepEqual(reasons(await at.plan(), "attempt"), [{ kind: "unchanged" }, undecided]);
  const run = await at.run();
  assert.deepEqual(reasons(run, "attempt"), [{ kind: "unchanged" }, undecided]);
  assert.equal(outcomes(run).attempt, "reused");
  assert.equal(origin(at), undefined);
  for (const again of ["first", "second"]) {
    const plain = await at.pipeline(["run", at.name, "--root", at.root]);
    assert.match(
      plain.stderr,
      new RegExp(`decide {2}attempt {2}\\(the imported record ${fake} competes and is not used`),
      again,
    );
  }

  const used = await attempts(at, at.root, "use", fake);
  assert.equal(used.code, 0, used.stderr);
  assert.ok(used.stdout.includes(`instead of ${own} (made here); back: pnpm pipeline attempts use ${own}`));
  const imported = { kind: "imported", signedBy: null };
  assert.deepEqual(reasons(await at.run(), "attempt"), [{ kind: "unchanged" }, imported]);
  assert.deepEqual(origin(at), imported);
  assert.equal(outcomes(await at.run("--only", "summary")).summary, "reused");
  assert.deepEqual(origin(at), imported, "also outside the selection");
  assert.equal((await attempts(at, at.root, "use", own)).code, 0);
  assert.deepEqual(reasons(await at.run(), "attempt"), [{ kind: "unchanged" }]);
  assert.equal(origin(at), undefined);
  assert.deepEqual(at.executions(), { attempt: 1 });
});

test("between two imported records nothing is chosen and nothing runs; a choice ends this", async (t) => {
  const { at, archive, made } = await attempted(t);
  const root = join(at.outside, "fresh");
  const both = join(at.outside, "both");
  cpSync(join(archive, made), join(both, made), { recursive: true });
  const forged = forge({ archive, made }, both, later);
  const said = await attempts(at, root, "import", both);
  assert.deepEqual([said.code, said.stdout], [0, "2 attempts imported, 1 conflict\n"]);
  assert.match(said.stderr, /none is used: /);
  const run = await at.pipeline(["run", at.name, "--json", "--root", root]);
  assert.equal(run.code, 1);
  const { outcome, failure, cause } = lineOf(run, "attempt");
  assert.deepEqual([outcome, failure], ["failed", "operator"]);
  assert.match(cause, /compete and are not used; `pnpm pipeline attempts use DIGEST` decides/);
  assert.deepEqual(at.executions(), { attempt: 1 });
  const planned = await at.pipeline(["plan", at.name, "--json", "--root", root]);
  assert.deepEqual(reasons(planned, "attempt"), [{ kind: "undecided", records: [made, forged].sort() }]);
  assert.equal((await attempts(at, root, "use", made)).code, 0);
  assert.equal(outcomes(await at.pipeline(["run", at.name, "--json", "--root", root])).attempt, "reused");
  assert.deepEqual(at.executions(), { attempt: 1 });
});

test("a second import changes nothing; --prefer-imported chooses the archive's record; a foreign or unknown digest cannot be used", async (t) => {
  const { at, archive, made } = await attempted(t);
  const back = await attempts(at, at.root, "import", archive);
  assert.equal(back.stdout, "0 attempts imported, 1 already here\n");
  const evil = join(at.outside, "evil");
  const forged = forge({ archive, made }, evil, later);
  const nothing = await attempts(at, at.root, "use", made);
  assert.equal(nothing.code, 2);
  assert.match(nothing.stderr, /^nothing-to-decide: no imported record competes with/);
  const preferred = await attempts(at, at.root, "import", evil, "--prefer-imported");
  assert.deepEqual([preferred.code, preferred.stdout], [0, "1 attempt imported\n"]);
  assert.deepEqual(reasons(await at.plan(), "attempt")[1], { kind: "imported", signedBy: null });
  const again = await attempts(at, at.root, "import", evil);
  assert.equal(again.stdout, "0 attempts imported, 1 already here\n");
  assert.deepEqual(reasons(await at.plan(), "attempt")[1], { kind: "imported", signedBy: null });
  const shown = await attempts(at, at.root, "show", forged, "--json");
  assert.equal(shown.lines[0]!.origin.signedBy, null);
  const unknown = await attempts(at, at.root, "use", "ffff");
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /unknown-attempt/);
  assert.deepEqual(at.executions(), { attempt: 1 });
});

const noKeys = spawnSync("ssh-keygen", ["-?"]).error !== undefined;

test("a signed archive is imported with its signer's name; a changed, an unsigned and an unknown one are refused with a way out", {
  skip: noKeys ? "ssh-keygen is not installed" : false,
}, async (t) => {
  const { at, archive, made } = await attempted(t);
  const key = join(at.outside, "key");
  assert.equal(spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]).status, 0);
  const signed = join(at.outside, "signed");
  const exported = await attempts(at, at.root, "export", signed, "--sign", key);
  assert.match(exported.stdout, /^1 attempt exported, signed; the archive's digest is [0-9a-f]{64}\n$/);
  const root = join(at.outside, "fresh");
  const importing = (from: string) => attempts(at, root, "import", from, "--require-signed");

  const unknown = await importing(signed);
  assert.equal(unknown.code, 2);
  assert.match(
    unknown.stderr,
    /^unknown-signer: .*SHA256:.*; nothing was imported\n {2}help: .*allowed_signers/,
  );
  mkdirSync(join(root, ".mlrb"), { recursive: true });
  const publicKey = readFileSync(`${key}.pub`, "utf8");
  writeFileSync(join(root, ".mlrb/allowed_signers"), `alice@lab namespaces="mlrb" ${publicKey}`);
  const unsigned = await importing(archive);
  assert.equal(unsigned.code, 2);
  assert.match(unsigned.stderr, /^unsigned-archive: .*\n {2}help: .*attempts export DIR --sign KEY/);

  for (const change of ["added", "removed"]) {
    const changed = join(at.outside, change);
    cpSync(signed, changed, { recursive: true });
    forge({ archive, made }, changed, later);
    if (change === "removed") rmSync(join(changed, made), { recursive: true });
    const refused = await importing(changed);
    assert.equal(refused.code, 2, change);
    assert.match(refused.stderr, /^bad-signature: .*; nothing was imported\n {2}help: /);
  }
  assert.equal((await attempts(at, root, "list")).stdout, "0 attempts\n");

  const good = await importing(signed);
  assert.equal(good.code, 0, good.stderr);
  assert.match(
    good.stdout,
    /^archive [0-9a-f]{12}, signed by alice@lab \(SHA256:\S+\)\n1 attempt imported\n$/,
  );
  const run = await at.pipeline(["run", at.name, "--json", "--root", root]);
  const imported = { kind: "imported", signedBy: "alice@lab" };
  assert.deepEqual(reasons(run, "attempt"), [{ kind: "unchanged" }, imported]);
  assert.deepEqual(origin({ root }), imported);
});

test("a signature never covers records of others, and a signed archive does not grow without a new one", {
  skip: noKeys ? "ssh-keygen is not installed" : false,
}, async (t) => {
  const { at, archive, made } = await attempted(t);
  const key = join(at.outside, "key");
  assert.equal(spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]).status, 0);
  const mixed = join(at.outside, "mixed");
  forge({ archive, made }, mixed, later);
  const foreign = await attempts(at, at.root, "export", mixed, "--sign", key);
  assert.equal(foreign.code, 2);
  assert.match(foreign.stderr, /^foreign-archive: .*\n {2}help: export to an empty folder/);

  const signed = join(at.outside, "signed");
  assert.equal((await attempts(at, at.root, "export", signed, "--sign", key)).code, 0);
  assert.equal((await attempts(at, at.root, "export", signed)).code, 0, "it holds this record already");
  assert.equal((await attempts(at, at.root, "import", mixed)).code, 0);
  const grown = await attempts(at, at.root, "export", signed);
  assert.equal(grown.code, 2);
  assert.match(grown.stderr, /^signed-archive: .*\n {2}help: pass --sign KEY/);
  const again = await attempts(at, at.root, "export", signed, "--sign", key);
  assert.equal(again.code, 0, again.stderr);
  assert.match(
    again.stderr,
    /^note: 1 attempt of this archive was imported here; your signature vouches for it$/m,
  );
  const nokey = await attempts(
    at,
    at.root,
    "export",
    join(at.outside, "other"),
    "--sign",
    join(at.outside, "no"),
  );
  assert.equal(nokey.code, 2);
  assert.match(nokey.stderr, /^unknown-key: /);
});
