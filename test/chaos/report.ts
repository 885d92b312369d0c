// Puts outcomes into words: lines while scenarios are played, and the page docs/chaos.md.

import type { ScenarioOutcome } from "./outcome.ts";
import type { Scenario } from "./scenario.ts";

const shown = 20;

export function progress(outcome: ScenarioOutcome): string {
  const { writes, reads, repeats, faults, lost, late, violations, errors } = outcome;
  const told = violations.slice(0, shown).map((violation) => `  VIOLATED ${violation}\n`);
  const more = violations.length > shown ? [`  … and ${violations.length - shown} more\n`] : [];
  return [
    `  ${faults} faults; writes: ${writes.done} acknowledged, ${writes.refused} refused, ${writes.unknown} of unknown outcome; ${reads} reads\n`,
    `  repeated by Idempotency-Key: ${repeats.unanswered} without an answer, of which ${repeats.done} had taken place; ${repeats.acknowledged} acknowledged\n`,
    `  lost as allowed: ${lost}; late: ${late}; longest without a write ${ms(outcome.longestGapMs)}; worked again after ${ms(outcome.recoveredMs)};`,
    ` slowest answer ${ms(outcome.slowestAnswerMs)}; revoked within ${ms(outcome.revokedMs)}\n`,
    ...told,
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

Made by \`npm run chaos -- --write\`. \`npm run chaos -- --only NAME --seed N --seconds S\` plays one scenario; the exit code is 1 when
something happened that must not. Eleven clients or more work on two replicas, which are processes of their own, on real Redis JSON, while
something is broken again and again; every client asks another replica each time. The seed decides what clients do and when what is
broken; how it all meets is the machine's doing, so a second run of a seed is alike and not the same.

All that was sent, acknowledged, refused and read is written down. A checker, which has [tests of its own](../test/unit/chaos/check-history.test.ts),
judges it each second and at the end, when everything was read back through every replica. In every scenario:

- What was acknowledged is there for every later read on any replica, with the body that was acknowledged; what the chosen durability
  may lose is said below, and counted as *lost*. Of one list, only the end may be lost.
- What was refused did not take place. \`outcome_unknown\`, or a connection that ended, = once or not at all.
- A POST with an Idempotency-Key that is repeated until it is acknowledged, at another replica each time, takes place once, and whoever
  repeats it later hears the first answer, with \`Idempotent-Replayed: true\`; in the end all of them are repeated once more (*repeated*:
  without an answer / of these had taken place / though acknowledged).
- Nothing is read that nobody wrote; nothing that was seen is gone; a client's own later write is never hidden by an earlier one.
  One case is left open, and counted as *late*: a key/value PUT or insert of unknown outcome may arrive after later ones. An
  object's update can't: it is bound to the version that it read.
- Pages in order of an indexed field and of creation neither skip nor repeat objects that nobody moved, while others come and go behind them.
- Ended sessions and a withdrawn API key stay out of every replica from ten seconds on (*revoked*: how long the last one was let in
  after it was acknowledged); credentials that stand are never refused.
- \`/readyz\` is true: no replica says for four seconds that it is ready and refuses everything, or the contrary.
- No answer takes 15 seconds, and none is a 500.
- Twenty seconds after the last fault at most every replica is ready and writes, without anybody's help (*again*). Then indexes
  equal documents.

`;

const tail = `
## What it found

Each has a regression test in the normal suite.

- A replica took a later hint for all there was when earlier ones were gone from the stream of changes: it went on with a revoked key or
  an old schema until it was started again (\`stream-trim\`). Hints say now what they follow.
- A replica whose wall clock jumped an hour, or one that started after another's had, let ended sessions in again (\`clock-jumps\`). How long
  they are remembered is counted by Redis' clock and a monotonic one.
- While a Cluster moved a slot, lists lacked objects whose documents were still, or already, on the other node, and an index that was
  built then lacked them for good; where Redis noticed, the answer was 500 (\`slot-migration\`). Now all is there, or the answer is 503.
- A write that a Cluster refused again and again while its slot moved was called \`outcome_unknown\`, though nothing had been done
  (\`slot-migration\`). It is \`store_unavailable\`.

## How some of it is done

- Clocks: replicas start with another \`Date\` (\`node --import\`), which adds what stands in a file. Timers and Redis' clock stay.
- An hour without an operator: its edits are made within seconds, and the replicas' clocks go an hour ahead.
- A full disk: a file system of 32 MiB in memory, which takes root; without it these scenarios say that they were not played.
- Stalls, half-open and reset connections: a TCP proxy per replica. Where only configuration stands still, it holds back connections by
  the name that they give themselves.
- One real API server and operator take part in \`operator-down\` and \`stale-leader\`; elsewhere the operator's own publisher is run by the suite.
- A part of the suite runs with \`npm test\`: one round of each kind of trouble with a fixed seed, and one on a Redis that forgets, which
  has to be refused (test/process/chaos.test.ts).
`;

export interface LeftOut {
  readonly scenario: Scenario;
  readonly why: string;
}

export function page(outcomes: readonly ScenarioOutcome[], left: readonly LeftOut[]): string {
  const seeds = [...new Set(outcomes.map(({ seed }) => seed))].join(", ");
  return [
    head,
    `Seed ${seeds}. *gap* = longest time in which no client's write was acknowledged, the time of the fault itself included.\n\n`,
    "| scenario | faults in | acknowledged / refused / unknown | repeated | reads | lost | late | gap | again | slowest answer | revoked | |\n",
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n",
    ...outcomes.map(row),
    "\n## What is done, and what is promised\n\n",
    ...outcomes.map(({ scenario: { name, does, promises } }) => `- **${name}**: ${does}. Holds: ${promises}.\n`),
    ...left.map(({ scenario: { name, does }, why }) => `- **${name}**: ${does}. Not played in this run: ${why}.\n`),
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
    ms(outcome.longestGapMs),
    ms(outcome.recoveredMs),
    ms(outcome.slowestAnswerMs),
    ms(outcome.revokedMs),
    outcome.violations.length === 0 ? "held" : `**violated** ${outcome.violations.length} times`,
  ];
  return `| ${cells.join(" | ")} |\n`;
}
