// Lists what the schema declares and doesn't require, each with a button that puts it into the text of a new object.

import { useId, useMemo } from "preact/hooks";
import { ActionButton } from "../action-button.tsx";
import type { Field } from "../description.ts";
import { memberNames, withMember } from "./with-member.ts";

export interface OptionalPropertiesProps {
  readonly fields: readonly Field[];
  /** What the person has written. */
  readonly text: string;
  readonly onAdd: (text: string, name: string) => void;
}

export function OptionalProperties({ fields, text, onAdd }: OptionalPropertiesProps) {
  const id = useId();
  const present = useMemo(() => memberNames(text), [text]);
  const optional = fields.filter(({ isRequired }) => !isRequired);
  if (optional.length === 0) return null;
  return (
    <section class="optional" aria-labelledby={id}>
      <h2 id={id}>Optional properties</h2>
      {present === undefined && (
        <p class="quiet">They can be added to a JSON object, which the text above isn't now.</p>
      )}
      <ul>
        {optional.map(({ name, types, description, sample }) => (
          <li key={name}>
            <ActionButton
              isDisabled={present === undefined || present.has(name)}
              onClick={() => onAdd(withMember(text, { name, value: sample }), name)}
            >
              Add {name}
            </ActionButton>
            <div>
              <span class="quiet">{types.length === 0 ? "any type" : types.join(" or ")}</span>
              {description !== undefined && <p>{description}</p>}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
