// Prints what `task check` found: a table of rules, unmet expectations, and what the corpus is too small to show.
import { terminalSection } from "@mlrb/report/formats/terminal-table";
import { plainText } from "@mlrb/report/read/plain-text";
import { textCell } from "@mlrb/report/sections/table";
import { printJson } from "../show/print-json.ts";
import { stdoutLook } from "../show/terminal.ts";
import { percent, type RuleRates } from "./rule-rates.ts";

type Checked = {
  task: string;
  models: number;
  rates: RuleRates[];
  unmet: string[];
  thin: string[];
  json: boolean;
};

export function printTaskCheck({ task, models, rates, unmet, thin, json }: Checked): void {
  if (json) {
    for (const one of rates) printJson({ event: "rule", ...one });
    for (const problem of unmet) printJson({ event: "unmet", problem });
    for (const warning of thin) printJson({ event: "thin", warning });
    printJson({ event: "summary", task, models, unmet: unmet.length, thin: thin.length });
    return;
  }
  const heads = [
    "rule",
    "effect",
    "false alarms",
    "95 % interval",
    "held out",
    "undecided",
    "cheats stopped",
    "95 % interval",
  ];
  const section = {
    heading: `Rules of ${task}, measured on ${models} models`,
    caption:
      "False alarms: honest models that break the rule, of those that it decides; held out: of types that no threshold was set with. Cheats stopped: those that break the rule or are rejected. Intervals of Clopper and Pearson.",
    tables: [
      {
        title: "",
        columns: heads.map((head, at) => ({ head, rigid: at > 1 })),
        groups: [{ name: task, title: "", rows: rates.map(row) }],
      },
    ],
    items: [
      ...unmet.map((text) => ({ head: "unmet", text: plainText(text) })),
      ...thin.map((text) => ({ head: "warning", text: plainText(text) })),
    ],
  };
  process.stdout.write(`\n${terminalSection(section, stdoutLook())}`);
}

function row({ name, severity, falseAlarms, heldOut, undecided, stopped }: RuleRates) {
  const effect = severity === "strike" ? "disqualifies" : "note";
  return [name, effect, ...cells(falseAlarms), cells(heldOut)[0]!, String(undecided), ...cells(stopped)].map(
    (text) => textCell(text),
  );
}

function cells({ events, trials, interval }: RuleRates["stopped"]): [string, string] {
  if (interval === undefined) return ["–", "–"];
  return [`${events} of ${trials}`, `${percent(interval[0])} to ${percent(interval[1])}`];
}
