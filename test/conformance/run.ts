// `npm run conformance -- URL`: checks the changes of the collection at a URL against each rule of
// docs/reference/changes.md, from outside. Creates objects in it and deletes them. Prints a line
// for each rule; exits 1 when something differs.

import { readFile } from "node:fs/promises";
import { readArguments, WrongArguments } from "../../tools/script-arguments.ts";
import { startScript } from "../../tools/start-script.ts";
import { checkChanges } from "./check-changes.ts";

const script = startScript("npm run conformance");
const text = { type: "string" } as const;
const options = { "api-key-file": text, object: text, unlogged: text };
const { values, words } = readArguments(options, ["URL"]);
const [url = ""] = words;
if (!/^https?:\/\/[^?#]+\/api\/[^/?#]+\/?$/.test(url)) {
  throw new WrongArguments("It takes the URL of a collection, such as http://127.0.0.1:8080/default/shop/api/books");
}
const keyFile = values["api-key-file"];
const key = keyFile === undefined ? undefined : (await readFile(keyFile, "utf8")).trim();
process.stdout.write(`Creates objects of its own at ${url}, and deletes them\n`);
const checked = await checkChanges(
  {
    url,
    authorization: key === undefined ? undefined : `apikey ${key}`,
    object: values.object,
    unlogged: values.unlogged,
  },
  ({ says, differs }) =>
    process.stdout.write(differs === undefined ? `ok       ${says}\n` : `differs  ${says}: ${differs}\n`),
  (deleteOwn) => script.onInterrupt(deleteOwn),
);
process.exitCode = checked.every(({ differs }) => differs === undefined) ? 0 : 1;
