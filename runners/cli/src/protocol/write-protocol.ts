// Writes and prints the protocol of a report. protocol.json and protocol.tex are apart from report.json: when a
// protocol was frozen must not change a report's bytes.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { protocolFiles as names } from "@mlrb/core/spec/check-published";
import { mustFollow } from "@mlrb/formats/read-format";
import type { Report } from "@mlrb/formats/report";
import { type ProtocolResult, protocolResult } from "@mlrb/formats/report/protocol";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { protocolTable } from "@mlrb/report/formats/latex";
import { terminalSection } from "@mlrb/report/formats/terminal-table";
import { protocolSection } from "@mlrb/report/protocol/protocol-section";
import { plainSection } from "@mlrb/report/sections/sections";
import { inTypedForm } from "../request/typed-program.ts";
import { stdoutLook } from "../show/terminal.ts";

/** Without a protocol, removes the files of an earlier one. */
export function writeProtocol(
  folder: string,
  { report, protocol }: { report: Report; protocol: ProtocolResult },
): void {
  const at = (name: string) => join(folder, name);
  if (protocol.kind === "none") {
    for (const name of Object.values(names)) rmSync(at(name), { force: true });
    return;
  }
  writeWhole(at(names.json), jsonOf(protocol));
  writeWhole(at(names.latex), protocolTable(report, protocol));
}

function jsonOf(protocol: ProtocolResult): string {
  const result = mustFollow(protocolResult, { formatVersion: 1, found: protocol }, names.json);
  return `${canonicalJson(result, 2)}\n`;
}

/** Whether the folder's files have these departures: decisions and repeats of attempts change them without a run. */
export function hasProtocol(folder: string, protocol: ProtocolResult): boolean {
  const path = join(folder, names.json);
  if (!existsSync(path)) return protocol.kind === "none";
  return protocol.kind !== "none" && readFileSync(path, "utf8") === jsonOf(protocol);
}

export function printProtocol(protocol: ProtocolResult): void {
  const typed = protocol.kind === "none" ? { ...protocol, freeze: inTypedForm(protocol.freeze) } : protocol;
  const section = plainSection(protocolSection(typed));
  process.stdout.write(`\n${terminalSection(section, stdoutLook())}`);
}
