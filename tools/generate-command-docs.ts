// Turns the commands of the program and the reasons of conditions into their reference pages.

import { commands } from "../cli/commands.ts";
import { commandHelp, programHelp } from "../cli/help.ts";
import { variableOf } from "../core/env/read-settings.ts";
import { healsByItself, noticeCatalogue, type Reason, reasonCatalogue } from "../operator/model/reasons.ts";
import { credentialEventCatalogue } from "../operator/resolve/credential-event.ts";
import { statusEventCatalogue } from "../operator/status/events-of.ts";

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
  return `<!-- Generated from operator/ by \`npm run generate\`. Change the catalogues there, or tools/generate-command-docs.ts. -->
# Conditions, reasons and events

${conditionsText}
## Reasons

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
${notices.join("")}
## Events

\`kubectl describe\` and \`kubectl events\` show what changed, once per change: each reason above when it becomes the reason of a
condition (a warning, but for \`WaitingForReplicas\`, \`Suspended\` and \`Deleting\`), and these:

| Event | Type | Meaning |
|---|---|---|
${eventRows()}`;
}

const conditionsText = `Every object has these conditions, each with the \`observedGeneration\` that it speaks of:

| Condition | True when |
|---|---|
| \`Accepted\` | The spec is valid, and what it refers to exists |
| \`Programmed\` | Every data-plane replica serves this generation and nothing older. Replicas that come and go later never turn it back |
| \`Ready\` | Both. A Project's does not include its children: wait for all with \`kubectl wait --for=condition=Ready jsonplane --all\` |
| \`Available\` | Of a Project, for information: a live data-plane replica serves it now. \`False\`: none is live, or none serves it. \`Unknown\`: nobody can tell, because Redis can't be reached. \`Ready\`, \`helm --wait\` and GitOps health checks don't depend on it, so that they don't flap |
| \`Reconciling\` | \`Ready\` is false and will become true by itself. Absent otherwise |
| \`Stalled\` | \`Ready\` is false until somebody edits something. Absent otherwise |
| \`Contested\` | [Another installation](fleet.md#two-installations-of-one-class) of the same class would serve this Project too, or could let this object go, and leaves it to the one that the message names. Absent otherwise |

Tools that follow kstatus (\`helm --wait\`, Flux) read an object as in progress while \`status.observedGeneration\` is not
\`metadata.generation\` or \`Reconciling\` is true, as failed at once when \`Stalled\` is true, and as current when \`Ready\` is true.

A message names the place of a fault as a JSON Pointer and says what to write. It holds no time, no counter and no secret, so
that an object whose state has not changed is not written. \`status.liveGeneration\` says which generation is served.
`;

function eventRows(): string {
  return Object.entries({ ...statusEventCatalogue, ...credentialEventCatalogue })
    .map(([reason, { type, meaning }]) => `| \`${reason}\` | ${type} | ${meaning} |\n`)
    .join("");
}
