// A form for a new object. Begins with an example for the schema, if the server has one.

import { useId, useMemo, useState } from "preact/hooks";
import { ActionButton } from "../action-button.tsx";
import type { Field, Resource } from "../description.ts";
import { JsonEditor } from "../editor/json-editor.tsx";
import { ProblemMessage } from "../problem-message.tsx";
import { useUnsaved } from "../use-unsaved.ts";
import { ViewHeading } from "../view-heading.tsx";
import { useCreation } from "./use-creation.ts";
import { memberNames, withMember } from "./with-member.ts";

interface Written {
  /** The example that it began with. */
  readonly start: string;
  readonly text: string;
}

export function NewObject({ resource }: { readonly resource: Resource }) {
  const sample = resource.sample ?? "{\n  \n}";
  const [written, setWritten] = useState<Written>();
  const [added, setAdded] = useState("");
  // Until something is written, the form shows the example of the current schema. Derived, because
  // a pending effect could replace what was just typed.
  const { start, text } =
    written === undefined || written.text === written.start ? { start: sample, text: sample } : written;
  const { problem, isBusy, create } = useCreation(resource.name);
  useUnsaved(text !== start);
  const change = (changed: string, name = ""): void => {
    setWritten({ start, text: changed });
    setAdded(name);
  };
  return (
    <>
      <ViewHeading name="New object" titled={`New object of ${resource.name}`} />
      <ProblemMessage problem={problem} text={text} />
      <JsonEditor
        label={`JSON of the new object of ${resource.name}`}
        text={text}
        faults={problem?.errors ?? []}
        onChange={(changed) => change(changed)}
        onSave={() => void create(text)}
      />
      <div class="actions">
        <ActionButton kind="main" isDisabled={isBusy} onClick={() => void create(text)}>
          Create
        </ActionButton>
        <span role="status" class="quiet">
          {statusOf(isBusy, added)}
        </span>
      </div>
      <PropertyButtons fields={resource.fields} start={start} text={text} onAdd={change} />
    </>
  );
}

function statusOf(isBusy: boolean, added: string): string {
  if (isBusy) return "Creating…";
  return added === "" ? "" : `Added ${added} at the end.`;
}

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
