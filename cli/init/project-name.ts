// Names the Project of a new folder after the folder.

import { basename, resolve } from "node:path";
import { readPlainScalar } from "../manifests/kubectl-scalar.ts";

/** The name in the template. */
export const templateName = "todo";

const maxCharacters = 63;

/** A valid metadata.name; that of the template where nothing of the folder's name can be in one. */
export function projectNameFor(folder: string): string {
  const plain = basename(resolve(folder)).normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  const name = plain
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, maxCharacters)
    .replace(/-$/, "");
  return name === "" ? templateName : name;
}

/** The template for a Project of another name. Its names are in `name: todo` and in the path of a comment. */
export function renamedTemplate(template: string, name: string): string {
  return template
    .replaceAll(new RegExp(`(?<=\\bname: )${templateName}\\b`, "g"), yamlText(name))
    .replaceAll(new RegExp(`(?<=/default/)${templateName}\\b`, "g"), name);
}

/** In quotes where YAML would read a number or a truth value. */
function yamlText(name: string): string {
  const reading = readPlainScalar(name);
  return reading.ok && reading.value === name ? name : JSON.stringify(name);
}
