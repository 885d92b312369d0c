// Shows what somebody else has stored next to what a person has entered, so that the person knows
// what a save would overwrite.

import { useId, useMemo } from "preact/hooks";
import { prettyJson } from "../editor/pretty.ts";
import { type Difference, differencesOf, type Versions } from "./differences.ts";

export interface DifferenceListProps {
  readonly versions: Versions;
  /** What the person's version is called. */
  readonly mineLabel: "Yours" | "As you saw it";
}

/** Many more are no longer compared by reading. */
const maxShown = 50;
const maxCharacters = 400;

export function DifferenceList({ versions, mineLabel }: DifferenceListProps) {
  const id = useId();
  const { before, theirs, mine } = versions;
  const differences = useMemo(() => differencesOf(versions), [before, theirs, mine]);
  if (differences === undefined) return <p>Yours isn't JSON, so it can't be compared with what is stored now.</p>;
  if (differences.length === 0) return <p>What is stored now is the same as yours.</p>;
  const hidden = differences.length - maxShown;
  return (
    <>
      <p id={id}>These values differ:</p>
      <ul class="differences" aria-labelledby={id}>
        {differences.slice(0, maxShown).map((difference) => (
          <DifferenceItem key={difference.pointer} difference={difference} mineLabel={mineLabel} />
        ))}
      </ul>
      {hidden > 0 && <p>{hidden.toLocaleString()} more are not shown.</p>}
    </>
  );
}

interface DifferenceItemProps {
  readonly difference: Difference;
  readonly mineLabel: DifferenceListProps["mineLabel"];
}

const changedByWords: Readonly<Record<Difference["changedBy"], string>> = {
  them: "changed by somebody else",
  me: "changed by you",
  both: "changed by both",
};

function DifferenceItem({ difference, mineLabel }: DifferenceItemProps) {
  const { pointer, theirs, mine, changedBy } = difference;
  return (
    <li>
      {pointer === "" ? "The whole value" : <code>{pointer}</code>}{" "}
      <span class="quiet">{changedByWords[changedBy]}</span>
      <dl>
        <div>
          <dt>Stored now</dt>
          <Value text={theirs} />
        </div>
        <div>
          <dt>{mineLabel}</dt>
          <Value text={mine} />
        </div>
      </dl>
    </li>
  );
}

function Value({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return <dd class="quiet">none</dd>;
  const shown = prettyJson(text);
  const isCut = shown.length > maxCharacters;
  return (
    <dd>
      <code>{isCut ? shown.slice(0, maxCharacters) : shown}</code>
      {isCut && <span class="quiet"> … {(shown.length - maxCharacters).toLocaleString()} more characters</span>}
    </dd>
  );
}
