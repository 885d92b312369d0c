// A form for a new object. Begins with an example that fits the schema, where the server has one.

import { useState } from "preact/hooks";
import { ActionButton } from "../action-button.tsx";
import type { Resource } from "../description.ts";
import { JsonEditor } from "../editor/json-editor.tsx";
import { ProblemMessage } from "../problem-message.tsx";
import { useUnsaved } from "../use-unsaved.ts";
import { ViewHeading } from "../view-heading.tsx";
import { PropertyButtons } from "./property-buttons.tsx";
import { useCreation } from "./use-creation.ts";

interface Written {
  /** The example that it began with. */
  readonly start: string;
  readonly text: string;
}

export function NewObject({ resource }: { readonly resource: Resource }) {
  const sample = resource.sample ?? "{\n  \n}";
  const [written, setWritten] = useState<Written>();
  const [added, setAdded] = useState("");
  // Until something is written, the form shows the example of the current schema. Derived, because an effect that is still pending could
  // replace what was just typed.
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
