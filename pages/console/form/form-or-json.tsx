// An object as a form made from its schema, and as JSON text: two views of one text, so that
// nothing is lost on the way from one to the other.

import type { Ref } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { EditorFault } from "../editor/faults.ts";
import { JsonEditor } from "../editor/json-editor.tsx";
import { prettyJson } from "../editor/pretty.ts";
import type { Field } from "../fields.ts";
import { FieldList, FormContext } from "./field-list.tsx";
import { hasFieldAt, objectText, standingFaults } from "./form-text.ts";
import { Tabs } from "./tabs.tsx";

export interface FormOrJsonProps {
  /** Of what is edited, for screen readers. */
  readonly label: string;
  /** Without any there is no form. */
  readonly fields: readonly Field[];
  /** JSON text, as the person has written it. */
  readonly text: string;
  /** What the server has against the text that was sent last. */
  readonly faults: readonly EditorFault[];
  readonly readOnly?: boolean;
  readonly formRef: Ref<HTMLFormElement>;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
}

export function FormOrJson(props: FormOrJsonProps) {
  const { label, fields, text, readOnly = false, onChange, onSave } = props;
  const [isJson, setJson] = useState(false);
  const faults = useStandingFaults(props);
  const editor = (
    <JsonEditor label={label} text={text} faults={faults} readOnly={readOnly} onChange={onChange} onSave={onSave} />
  );
  return (
    <>
      {readOnly && <p class="quiet">You may read this, not change it.</p>}
      {fields.length === 0 ? (
        editor
      ) : (
        <Tabs label={label} tabs={["Form", "JSON"]} chosen={isJson ? 1 : 0} onChoose={(index) => setJson(index === 1)}>
          {isJson ? editor : <ObjectForm {...props} faults={faults} showJson={() => setJson(true)} />}
        </Tabs>
      )}
    </>
  );
}

function useStandingFaults({ faults, text }: FormOrJsonProps): readonly EditorFault[] {
  const refused = useRef({ faults, text });
  // By what they say: owners may make a new list each time that they render.
  if (JSON.stringify(refused.current.faults) !== JSON.stringify(faults)) refused.current = { faults, text };
  return useMemo(() => standingFaults(faults, refused.current.text, text), [refused.current, text]);
}

interface ObjectFormProps extends FormOrJsonProps {
  readonly showJson: () => void;
}

function ObjectForm(props: ObjectFormProps) {
  const { label, fields, text, faults, readOnly = false, formRef, showJson, onChange, onSave } = props;
  const list = useRef<HTMLDivElement>(null);
  const object = useMemo(() => objectText(text), [text]);
  const faultsText = JSON.stringify(faults);
  const shown = useRef(faults.length);
  useLayoutEffect(() => {
    // Only what the server has found just now: the person may mend one and go on to the next.
    const isNew = faults.length > shown.current;
    shown.current = faults.length;
    if (isNew) list.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [faultsText]);
  if (object === undefined) return <p class="quiet">The text isn't a JSON object yet. Mend it as JSON first.</p>;
  const others = faults.filter(({ pointer }) => !hasFieldAt(fields, pointer));
  return (
    <FormContext.Provider value={{ faults, showJson }}>
      <form
        ref={formRef}
        class="object"
        aria-label={label}
        onSubmit={(event) => {
          event.preventDefault();
          onSave();
        }}
        onKeyDown={(event) => {
          if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          onSave();
        }}
      >
        {others.map(({ pointer, message }) => (
          <p key={`${pointer} ${message}`} class="fault">
            {pointer !== "" && <code>{pointer}</code>} {message}
          </p>
        ))}
        <fieldset disabled={readOnly}>
          <legend class="visually-hidden">{label}</legend>
          <div ref={list}>
            <FieldList fields={fields} text={object} pointer="" onChange={(changed) => onChange(prettyJson(changed))} />
          </div>
        </fieldset>
        {/* Without it, Enter would send forms of one field only. */}
        <input type="submit" hidden />
      </form>
    </FormContext.Provider>
  );
}
