// Lists what the schema declares and a new object doesn't begin with, each with a button that puts it into the text.

import { useId, useMemo } from "preact/hooks";
import { ActionButton } from "../action-button.tsx";
import type { Field } from "../description.ts";
import { memberNames, withMember } from "./with-member.ts";

export interface PropertyButtonsProps {
  readonly fields: readonly Field[];
  /** What the form began with. */
  readonly start: string;
  /** What the person has written. */
  readonly text: string;
  readonly onAdd: (text: string, name: string) => void;
}

export function PropertyButtons({ fields, start, text, onAdd }: PropertyButtonsProps) {
  const id = useId();
  const present = useMemo(() => memberNames(text), [text]);
  const begunWith = useMemo(() => memberNames(start), [start]);
  // A schema may require more since, and what was written is left as it is.
  const offered = fields.filter(({ name, isRequired }) => !isRequired || begunWith?.has(name) === false);
  if (offered.length === 0) return null;
  return (
    <section class="properties" aria-labelledby={id}>
      <h2 id={id}>{offered.some(({ isRequired }) => isRequired) ? "Properties" : "Optional properties"}</h2>
      {present === undefined && (
        <p class="quiet">They can be added to a JSON object, which the text above isn't now.</p>
      )}
      <ul>
        {offered.map(({ name, types, isRequired, description, sample }) => (
          <li key={name}>
            <ActionButton
              isDisabled={present === undefined || present.has(name)}
              onClick={() => onAdd(withMember(text, { name, value: sample }), name)}
            >
              Add {name}
            </ActionButton>
            <div>
              <span class="quiet">{types.length === 0 ? "any type" : types.join(" or ")}</span>
              {isRequired && <strong>, required</strong>}
              {description !== undefined && <p>{description}</p>}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
