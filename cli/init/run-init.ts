// `jsonplane init [DIR]`: writes one commented file of manifests, with a Project named after the
// folder, and says how to serve it. Refuses a folder that is not empty, so that nothing is
// overwritten.

import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readPlainScalar } from "../manifests/convert-document.ts";
import { programWord, shellWord } from "../shell-words.ts";

const fileName = "project.yaml";
const template = fileURLToPath(new URL(fileName, import.meta.url));

export interface InitOutput {
  readonly out: (line: string) => void;
  readonly error: (line: string) => void;
}

/** Exit code: 0 when the file was written, 1 otherwise. */
export async function runInit(folder: string, { out, error }: InitOutput): Promise<number> {
  const refusal = await writeProject(folder);
  if (refusal !== undefined) {
    error(refusal);
    return 1;
  }
  out(`${join(folder, fileName)} has a Project with a resource, a login, an API key and a JSON document. To serve it:`);
  out("");
  out(`  ${programWord()} dev ${shellWord(folder)}`);
  return 0;
}

/** What is wrong and what to do, if it can't be written. */
async function writeProject(folder: string): Promise<string | undefined> {
  try {
    await mkdir(folder, { recursive: true });
    const [first] = await entriesIn(folder);
    if (first !== undefined) return occupied(folder, first);
    const text = renamedTemplate(await readFile(template, "utf8"), projectNameFor(folder));
    await writeFile(join(folder, fileName), text, { flag: "wx" });
    return undefined;
  } catch (failure) {
    const { code, message } = failure as NodeJS.ErrnoException;
    if (code === undefined) throw failure;
    if (code === "EEXIST" || code === "ENOTDIR") return `${folder} is not a folder: name another one`;
    return `${folder} can't be written to (${message}): name another folder`;
  }
}

function occupied(folder: string, entry: string): string {
  const [program, word] = [programWord(), shellWord(folder)];
  return `${folder} is not empty (${entry} is in it), and nothing was written: name a new folder with ${program} init DIR, or serve what is in this one with ${program} dev ${word}`;
}

/** The name in the template. */
const templateName = "todo";

const maxCharacters = 63;

/** A valid metadata.name; that of the template where nothing of the folder's name can be in one. */
function projectNameFor(folder: string): string {
  const plain = basename(resolve(folder)).normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  const name = plain
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, maxCharacters)
    .replace(/-$/, "");
  return name === "" ? templateName : name;
}

/** The template for a Project of another name: in `name: todo` and the path of a comment. */
function renamedTemplate(template: string, name: string): string {
  return template
    .replaceAll(new RegExp(`(?<=\\bname: )${templateName}\\b`, "g"), yamlText(name))
    .replaceAll(new RegExp(`(?<=/default/)${templateName}\\b`, "g"), name);
}

/** In quotes where YAML would read a number or a truth value. */
function yamlText(name: string): string {
  const reading = readPlainScalar(name);
  return reading.ok && reading.value === name ? name : JSON.stringify(name);
}

async function entriesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => !name.startsWith(".")).sort();
}

/** False of what can't be read as a folder, too. */
export async function isEmptyFolder(path: string): Promise<boolean> {
  return await entriesIn(path).then(
    (entries) => entries.length === 0,
    () => false,
  );
}
