// `npm run check -- layers`: prints what breaks the repository's shape (import direction, cycles,
// file size, names, script headers), one line each, and exits 1 when there is anything.

import { checkLayers } from "./layers/check-layers.ts";
import { printable } from "./layers/violations.ts";
import { readArguments } from "./script-arguments.ts";
import { startScript } from "./start-script.ts";

startScript("npm run check -- layers");
const [root = new URL("..", import.meta.url).pathname] = readArguments({}, ["[FOLDER]"]).words;
const { files, violations } = await checkLayers(root);
for (const found of violations) console.error(printable(found));
console.log(`${files} files, ${violations.length} violations`);
process.exitCode = violations.length === 0 ? 0 : 1;
