// Puts outcomes into words: lines while scenarios are played, and the page docs/chaos.md.

import type { ScenarioOutcome } from "./outcome.ts";
import type { Scenario } from "./scenario.ts";

const shown = 20;

export function progress(outcome: ScenarioOutcome): string {
  const { writes, reads, repeats, faults, lost, late, violations, errors } = outcome;
  const listed = violations.slice(0, shown).map((violation) => `  VIOLATED ${violation}\n`);
  const more = violations.length > shown ? [`  … and ${violations.length - shown} more\n`] : [];
  return [
    `  ${faults} faults; writes: ${writes.done} acknowledged, ${writes.refused} refused, ${writes.unknown} of unknown outcome; ${reads} reads\n`,
    `  repeated by Idempotency-Key: ${repeats.unanswered} without an answer, of which ${repeats.done} had taken place; ${repeats.acknowledged} acknowledged\n`,
    `  lost as allowed: ${lost}; late: ${late}; longest without a write ${ms(outcome.maxGapMs)}; worked again after ${ms(outcome.recoveredMs)};`,
    ` slowest answer ${ms(outcome.slowestAnswerMs)}; revoked within ${ms(outcome.revokedMs)}\n`,
    ...listed,
    ...more,
    ...(violations.length > 0 ? errors.slice(0, shown).map((line) => `  logged ${line}\n`) : []),
    violations.length === 0 ? "  held\n" : "",
  ].join("");
}

function ms(milliseconds: number): string {
  if (Number.isNaN(milliseconds)) return "never";
  return milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}

const head = `# Faults, and what holds through them

Made by \`npm run chaos -- --write\`. \`npm run chaos -- --only NAME --seed N --seconds S\` runs one scenario; the exit code is 1 if
a promise was broken.

- At least eleven clients use two replicas, which are processes of their own, on real Redis JSON, while faults are injected again and again. Every
  client uses another replica for each request.
- The seed decides what the clients do and when a fault is injected. The timing of processes is the machine's, so two runs of a seed are similar, not equal.
- All requests and answers are recorded. A checker, which has [tests of its own](../test/unit/chaos/check-history.test.ts), checks them each second,
  and again at the end, after everything was read back through every replica.

In every scenario:

- **Acknowledged writes** are visible to every later read on any replica, with the body that was acknowledged. Exceptions are losses that the chosen durability
  allows: they are named below, and counted as *lost*. Of one list, only the end may be lost.
- **Refused writes** did not take place. With \`outcome_unknown\`, or if the connection ended, they took place once or not at all.
- **Repeated POSTs.** A POST with an Idempotency-Key that is repeated until it is acknowledged, each time at another replica, takes place once. Later
  repetitions get the first answer, with \`Idempotent-Replayed: true\`; at the end all of them are repeated once more (*repeated*: without an
  answer / of these had taken place / although acknowledged).
- **Reads** return only values that were written, and no value that was seen disappears. An earlier write never hides a client's own later write. One case is
  possible, and counted as *late*: a key/value PUT or insert of unknown outcome may take place after later ones. An update of an object can't; it depends on
  the version that it read.
- **Pages** in order of an indexed field or of creation neither skip nor repeat objects that did not move, while other objects are added and removed.
- **Revocations.** After ten seconds every replica refuses ended sessions and withdrawn API keys (*revoked*: how long the last one was accepted
  after the revocation was acknowledged). Valid credentials are never refused.
- **Readiness.** \`/readyz\` is correct: no replica reports for four seconds that it is ready while it refuses everything, or the contrary.
- **Answers** take less than 15 seconds, and none is a 500.
- **Recovery.** At most twenty seconds after the last fault, every replica is ready and accepts writes, without help (*again*). Then the indexes match the
  documents.

`;

const tail = `
## What it found

Each of these has a regression test in the normal suite.

- A replica treated a later hint as complete although earlier ones were gone from the stream of changes. It kept a revoked key or
  an old schema until it was restarted (\`stream-trim\`). Now each hint says which one it follows.
- A replica whose wall clock jumped an hour, or one that started after another's clock had jumped, accepted ended sessions again (\`clock-jumps\`). Now
  Redis' clock and a monotonic clock decide how long ended sessions are remembered.
- While a Cluster moved a slot, lists lacked objects whose documents were on the other node, and an index that was built then lacked them for
  good. Where Redis noticed it, the answer was 500 (\`slot-migration\`). Now lists are complete, or the answer is 503.
- A write that a Cluster refused again and again while its slot moved was reported as \`outcome_unknown\`, although nothing had been done
  (\`slot-migration\`). Now it is \`store_unavailable\`.

## How faults are injected

- Clocks: replicas start with another \`Date\` (\`node --import\`), which adds the offset from a file. Timers and Redis' clock are not changed.
- An hour without an operator: its edits are made within seconds, and the replicas' clocks are set an hour ahead.
- A full disk: a file system of 32 MiB in memory, which needs root. Without root, these scenarios report that they were not run.
- Stalls, half-open and reset connections: a TCP proxy per replica. To stall only the configuration, it holds back connections by
  the name that they set.
- \`operator-down\` and \`stale-leader\` use a real API server and operator. In the other scenarios the suite runs the operator's publisher itself.
- \`npm test\` runs a part of the suite: one round of each kind of fault with a fixed seed, and one on a Redis that forgets, which
  the checker has to detect (test/process/chaos.test.ts).
`;

export interface LeftOut {
  readonly scenario: Scenario;
  readonly why: string;
}

export function page(outcomes: readonly ScenarioOutcome[], left: readonly LeftOut[]): string {
  const seeds = [...new Set(outcomes.map(({ seed }) => seed))].join(", ");
  return [
    head,
    `Seed ${seeds}. *gap* = the longest time without an acknowledged write, the time of the fault itself included.\n\n`,
    "| scenario | faults in | acknowledged / refused / unknown | repeated | reads | lost | late | gap | again | slowest answer | revoked | |\n",
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n",
    ...outcomes.map(row),
    "\n## Scenarios\n\n",
    ...outcomes.map(({ scenario: { name, does, promises } }) => `- **${name}**: ${does}. Holds: ${promises}.\n`),
    ...left.map(({ scenario: { name, does }, why }) => `- **${name}**: ${does}. Not run this time: ${why}.\n`),
    tail,
  ].join("");
}

function row(outcome: ScenarioOutcome): string {
  const { scenario, writes, repeats, faults, seconds } = outcome;
  const cells = [
    `\`${scenario.name}\``,
    `${faults} in ${seconds} s`,
    `${writes.done} / ${writes.refused} / ${writes.unknown}`,
    `${repeats.unanswered} / ${repeats.done} / ${repeats.acknowledged}`,
    outcome.reads,
    outcome.lost,
    outcome.late,
    ms(outcome.maxGapMs),
    ms(outcome.recoveredMs),
    ms(outcome.slowestAnswerMs),
    ms(outcome.revokedMs),
    outcome.violations.length === 0 ? "held" : `**violated** ${outcome.violations.length} times`,
  ];
  return `| ${cells.join(" | ")} |\n`;
}
