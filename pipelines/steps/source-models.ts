// Gives downloaded models names: for each entry of `models`, a folder with the files of a source. Where the file
// system can, the copies share their blocks. By hand, with MANIFEST the manifest of a collecting stage:
//   node pipelines/steps/source-models.ts --param 'models={"base": "phi-2"}' --input manifest=MANIFEST \
//     --output models=DIR
import { constants, cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { downloadedFolder, readCollected } from "@mlrb/kit/collected";
import { stage } from "@mlrb/kit/stage";

const { params, inputs, outputs } = stage();
const downloads = readCollected(inputs.manifest!);
for (const [name, source] of Object.entries(params.models as Record<string, string>)) {
  const files = downloadedFolder(downloads, source);
  if (!existsSync(join(files, "config.json")))
    throw new Error(`the source ${source} has no config.json: it is no model that transformers loads`);
  cpSync(files, join(outputs.models!, name), { recursive: true, mode: constants.COPYFILE_FICLONE });
  console.log(`${name}: ${source}`);
}
