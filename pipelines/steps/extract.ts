// What a judge reads of an attempt: numbered events in bounded plain text, without names of its agent and model.
//   node pipelines/steps/extract.ts --param agent=A --param 'preset={"kind":"nop"}' --param prompt=FILE \
//     --param 'limits={"characters":2000000,"eventCharacters":20000}' --param data=smoke --param publicNames=null \
//     --input trajectory=FILE --input public=DIR [--input attachments=DIR] [--input workspace=DIR] \
//     [--input overlap=FILE] [--input identity=FILE] --output extract=FILE
import { extractAttempt } from "@mlrb/agents/judge/extract/extract-attempt";
import { writeJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";

const context = stage();
const found = await extractAttempt(context);
writeJson(context.outputs.extract!, found);
console.log(`${found.events.length} events; left out: ${JSON.stringify(found.leftOut)}`);
