// The form for a new object. It begins empty: examples of the schema are shown, and not stored.

import { useMemo, useRef, useState } from "preact/hooks";
import { ActionButton } from "../action-button.tsx";
import type { Resource } from "../description.ts";
import { prettyJson } from "../editor/pretty.ts";
import { FormOrJson } from "../form/form-or-json.tsx";
import { firstText } from "../form/form-text.ts";
import { ProblemMessage } from "../problem-message.tsx";
import { useUnsaved } from "../use-unsaved.ts";
import { ViewHeading } from "../view-heading.tsx";
import { singularOf } from "./names.ts";
import { useCreation } from "./use-creation.ts";

interface Written {
  /** What it began with. */
  readonly start: string;
  readonly text: string;
}

export function NewObject({ resource }: { readonly resource: Resource }) {
  const { name, newFields: fields } = resource;
  const first = useMemo(() => prettyJson(firstText(fields)), [fields]);
  const [written, setWritten] = useState<Written>();
  const form = useRef<HTMLFormElement>(null);
  // Until something is written, the form follows the current schema. Derived, because a pending
  // effect could replace what was just typed.
  const { start, text } =
    written === undefined || written.text === written.start ? { start: first, text: first } : written;
  const { problem, isBusy, create } = useCreation(name);
  useUnsaved(text !== start);
  const send = (): void => {
    if (form.current?.reportValidity() !== false) void create(text);
  };
  const title = `New ${singularOf(name)}`;
  return (
    <>
      <ViewHeading name={title} titled={`${title} – ${name}`} />
      <ProblemMessage problem={problem} text={text} />
      <FormOrJson
        label={title}
        fields={fields}
        formRef={form}
        text={text}
        faults={problem?.errors ?? []}
        onChange={(changed) => setWritten({ start, text: changed })}
        onSave={send}
      />
      <div class="actions stays">
        <ActionButton kind="main" isDisabled={isBusy} onClick={send}>
          Create
        </ActionButton>
        <span role="status" class="quiet">
          {isBusy && "Creating…"}
        </span>
      </div>
    </>
  );
}
