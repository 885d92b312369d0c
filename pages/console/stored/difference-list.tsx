// Shows what somebody else has stored next to what a person has entered, so that the person knows
// what a save would overwrite.

import { useId, useMemo } from "preact/hooks";
import { kindOf } from "../../../core/json/members.ts";
import { prettyJson } from "../editor/pretty.ts";
import type { Field } from "../fields.ts";
import { labelAt } from "../form/form-text.ts";
import { type Difference, differencesOf, type Versions } from "./differences.ts";

export interface DifferenceListProps {
  readonly versions: Versions;
  /** Whose labels are shown; without them JSON Pointers are. */
  readonly fields: readonly Field[] | undefined;
  /** What the person's version is called. */
  readonly mineLabel: "Yours" | "As you saw it";
  /** What the person alone has changed is left out. */
  readonly hidesMine?: boolean;
}

/** Many more are no longer compared by reading. */
const maxShown = 50;
const maxCharacters = 400;

export function DifferenceList({ versions, fields, mineLabel, hidesMine = false }: DifferenceListProps) {
  const id = useId();
  const { before, theirs, mine } = versions;
  const differences = useMemo(
    () => differencesOf(versions)?.filter(({ changedBy }) => !hidesMine || changedBy !== "me"),
    [before, theirs, mine, hidesMine],
  );
  if (differences === undefined) return <p>Yours isn't JSON, so it can't be compared with what is stored now.</p>;
  if (differences.length === 0)
    return <p>{hidesMine ? "It doesn't touch what you have entered." : "What is stored now is the same as yours."}</p>;
  const hidden = differences.length - maxShown;
  return (
    <>
      <p id={id}>These values differ:</p>
      <ul class="differences" aria-labelledby={id}>
        {differences.slice(0, maxShown).map((difference) => (
          <DifferenceItem key={difference.pointer} difference={difference} fields={fields} mineLabel={mineLabel} />
        ))}
      </ul>
      {hidden > 0 && <p>{hidden.toLocaleString()} more are not shown.</p>}
    </>
  );
}

interface DifferenceItemProps extends Pick<DifferenceListProps, "fields" | "mineLabel"> {
  readonly difference: Difference;
}

const changedByWords: Readonly<Record<Difference["changedBy"], string>> = {
  them: "changed by somebody else",
  me: "changed by you",
  both: "changed by both",
};

function DifferenceItem({ difference, fields, mineLabel }: DifferenceItemProps) {
  const { pointer, theirs, mine, changedBy } = difference;
  return (
    <li>
      <Place pointer={pointer} fields={fields} /> <span class="quiet">{changedByWords[changedBy]}</span>
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

interface PlaceProps extends Pick<DifferenceListProps, "fields"> {
  readonly pointer: string;
}

function Place({ pointer, fields }: PlaceProps) {
  if (pointer === "") return <>The whole value</>;
  return fields === undefined ? <code>{pointer}</code> : <strong>{labelAt(fields, pointer)}</strong>;
}

function Value({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return <dd class="quiet">none</dd>;
  const value: unknown = kindOf(text) === "string" ? JSON.parse(text) : "";
  // An empty text is shown by its quotes.
  const shown = typeof value === "string" && value !== "" ? value : prettyJson(text);
  const isCut = shown.length > maxCharacters;
  return (
    <dd>
      <code>{isCut ? shown.slice(0, maxCharacters) : shown}</code>
      {isCut && <span class="quiet"> … {(shown.length - maxCharacters).toLocaleString()} more characters</span>}
    </dd>
  );
}
