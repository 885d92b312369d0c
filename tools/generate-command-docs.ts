// Turns the commands of the program and the reasons of conditions into their reference pages.

import { commands } from "../cli/commands.ts";
import { commandHelp, programHelp } from "../cli/help.ts";
import { variableOf } from "../core/env/read-settings.ts";
import { isTransient, noticeCatalogue, type Reason, reasonCatalogue } from "../operator/model/reasons.ts";
import { credentialEventCatalogue } from "../operator/resolve/credential-event.ts";
import { ordinaryReasons, statusEventCatalogue } from "../operator/status/events-of.ts";
import { availabilityMessages } from "../operator/status/messages.ts";

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

A flag wins over its environment variable (\`--admin-port\` over \`${example}\`), and a variable over the default. An empty variable
counts as unset. All problems of a command line are reported at once.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | the command failed |
| 2 | the command line is not valid |

\`\`\`
${programHelp(commands)}\`\`\`

${sections.join("\n")}`;
}

function conditionsPage(): string {
  const reasons = Object.entries(reasonCatalogue) as [Reason, (typeof reasonCatalogue)[Reason]][];
  const rows = (wanted: boolean): string =>
    reasons
      .filter(([reason]) => isTransient(reason) === wanted)
      .map(([reason, { meaning }]) => `| \`${reason}\` | ${meaning} |\n`)
      .join("");
  const notices = Object.entries(noticeCatalogue).map(([reason, meaning]) => `| \`${reason}\` | ${meaning} |\n`);
  return `<!-- Generated from operator/ by \`npm run generate\`. Change the catalogues there, or tools/generate-command-docs.ts. -->
# Conditions, reasons and events

${conditionsText}
## Reasons

A reason says why an object is not accepted or not served yet. In a cluster it is the reason of the object's conditions;
\`jsonplane dev\` prints it in parentheses at the end of a line. The last good version of a refused object is still served, and
no other object is affected.

The object needs no correction (condition \`Reconciling\`):

| Reason | Meaning |
|---|---|
${rows(true)}
These last until somebody acts (condition \`Stalled\`):

| Reason | Meaning |
|---|---|
${rows(false)}
These are for information: the object is accepted, and served as its spec says.

| Reason | Meaning |
|---|---|
${notices.join("")}
Only \`Available\` has this reason, while it is \`Unknown\`; no Event goes with it.

| Reason | Meaning |
|---|---|
| \`ReplicasUnknown\` | ${availabilityMessages.ReplicasUnknown} |

## Events

\`kubectl describe\` and \`kubectl events\` show each change once. Each of the other reasons above is an Event when it becomes the
reason of a condition: of type Normal for ${[...ordinaryReasons].map((reason) => `\`${reason}\``).join(", ")}, and Warning for others.
When very many objects change at once, Normal Events are left out ([\`jsonplane_events_dropped_total\`](operator-metrics.md)). There are also these:

| Event | Type | Meaning |
|---|---|---|
${eventRows()}`;
}

const conditionsText = `Every object has these conditions, each with the \`observedGeneration\` that it is about:

| Condition | True when |
|---|---|
| \`Accepted\` | The spec is valid, and what it refers to exists |
| \`Programmed\` | Every data-plane replica serves this generation and nothing older. Stays \`True\` when replicas restart, or are added or removed |
| \`Ready\` | \`Accepted\` and \`Programmed\` are true and, of a Project, its stored data are not lost (\`DataLost\`) and \`Populated\` isn't false. A Project's \`Ready\` does not include its children: wait for all with \`kubectl wait --for=condition=Ready jsonplane --all\` |
| \`Populated\` | Of a Project with \`spec.dataSourceRef\`: the data were copied, all of them (\`Copied\`) or those that could be (\`CopiedInPart\`). Once true it stays true. \`False\`: not yet, and the Project is served meanwhile. What \`spec.dataSource\` names is looked for in both Projects, so a field that \`omit\` misspells is refused here and not in \`Accepted\` |
| \`Available\` | Of a Project, for information: a live data-plane replica serves it now. \`False\`: none is live, or none serves it. \`Unknown\`: the operator cannot reach Redis or has lost the fleet's key ring, or every live replica refuses the newest configuration. A replica counts as live for fifteen seconds after its last sign of life, so this is as late where replicas or Redis are killed. \`Ready\`, \`helm --wait\` and GitOps health checks don't depend on it, so that they don't flap |
| \`StoredObjectsValid\` | Of an ApiResource with \`spec.schemaChange.storedObjects\`: all stored objects met the schema of the spec when they were checked last. \`False\`: some didn't. \`Unknown\`: they haven't all been checked against it. \`Ready\` doesn't depend on it |
| \`Reconciling\` | \`Ready\` is false and will become true by itself. Absent otherwise |
| \`Stalled\` | \`Ready\` is false until somebody edits something. Absent otherwise |

Tools that follow kstatus (\`helm --wait\`, Flux) read an object as in progress while \`status.observedGeneration\` is not
\`metadata.generation\` or \`Reconciling\` is true, as failed at once when \`Stalled\` is true, and as current when \`Ready\` is true.

A message gives the location of a problem as a JSON Pointer, and what to write instead. It contains no time, no counter and no secret, so
the status of an unchanged object is not written again. \`status.liveGeneration\` is the generation that is served.
`;

function eventRows(): string {
  return Object.entries({ ...statusEventCatalogue, ...credentialEventCatalogue })
    .map(([reason, { type, meaning }]) => `| \`${reason}\` | ${type} | ${meaning} |\n`)
    .join("");
}
