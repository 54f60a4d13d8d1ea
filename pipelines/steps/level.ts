// What agents get at a level of difficulty beside the task: a text that they read after it, and files in help/.
//   node pipelines/steps/level.ts --param 'level={"says": "…", "help": "tasks/T/help"}' --output text=FILE --output help=DIR
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sourceFolder } from "@mlrb/kit/source-file";
import { stage } from "@mlrb/kit/stage";

const { params, outputs } = stage();
const { says, help } = params.level as { says: string; help: string | null };
writeFileSync(outputs.text!, `${says}\n`);
mkdirSync(outputs.help!, { recursive: true });
if (help !== null) cpSync(sourceFolder(help), join(outputs.help!, "help"), { recursive: true });
