// Turns the commands of the program and the reasons of conditions into their reference pages.

import { commands } from "../cli/commands.ts";
import { commandHelp, programHelp } from "../cli/help.ts";
import { variableOf } from "../core/env/read-settings.ts";
import { healsByItself, noticeCatalogue, type Reason, reasonCatalogue } from "../operator/reasons.ts";

/** Every generated page, by its path below the repository's root. */
export function generateCommandDocs(): ReadonlyMap<string, string> {
  return new Map([
    ["docs/reference/command-line.md", commandLinePage()],
    ["docs/reference/conditions.md", conditionsPage()],
  ]);
}

function commandLinePage(): string {
  const sections = commands.map((command) => `## ${command.name}\n\n\`\`\`\n${commandHelp(command)}\`\`\`\n`);
  const example = variableOf("admin-port");
  return `<!-- Generated from cli/ by \`npm run generate\`. Change the commands, not this file. -->
# Command line

A flag wins over its environment variable (\`--admin-port\` over \`${example}\`), a variable over the default. An empty variable
counts as unset. Everything that is wrong with a command line is said at once; the exit code is 2 then, 1 when a command fails,
0 when it ends well.

\`\`\`
${programHelp(commands)}\`\`\`

${sections.join("\n")}`;
}

function conditionsPage(): string {
  const reasons = Object.entries(reasonCatalogue) as [Reason, (typeof reasonCatalogue)[Reason]][];
  const rows = (wanted: boolean): string =>
    reasons
      .filter(([reason]) => healsByItself(reason) === wanted)
      .map(([reason, { meaning }]) => `| \`${reason}\` | ${meaning} |\n`)
      .join("");
  const notices = Object.entries(noticeCatalogue).map(([reason, meaning]) => `| \`${reason}\` | ${meaning} |\n`);
  return `<!-- Generated from operator/reasons.ts by \`npm run generate\`. Change that, not this file. -->
# Reasons

Why an object is not accepted or not served yet: the reason of its conditions in a cluster, in parentheses at the end of a line
of \`jsonplane dev\`. An object that is refused goes on being served in its last good version, and no other object notices.

These heal by themselves (condition \`Reconciling\`):

| Reason | Meaning |
|---|---|
${rows(true)}
These need a person (condition \`Stalled\`):

| Reason | Meaning |
|---|---|
${rows(false)}
These go with an accepted object: something to know, nothing to mend.

| Reason | Meaning |
|---|---|
${notices.join("")}`;
}
