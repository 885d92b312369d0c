// The fields of an object in a form, each with its label and what the server has against it.
// Objects in it are fieldsets, and lists are rows. What the form can't show is left to the editor.

import { createContext } from "preact";
import { useContext, useId, useLayoutEffect, useRef } from "preact/hooks";
import { childPointer } from "../../../core/json/json-pointer.ts";
import { elementsOf, mergeMembers, valuesOf, withoutMembers } from "../../../core/json/members.ts";
import { describeFault } from "../describe-problem.ts";
import type { EditorFault } from "../editor/faults.ts";
import type { Field } from "../fields.ts";
import { singularOf } from "../objects/names.ts";
import { firstElement, fits, isUnset } from "./form-text.ts";
import { ScalarControl } from "./scalar-control.tsx";

export interface FormServices {
  readonly faults: readonly EditorFault[];
  readonly showJson: () => void;
}

export const FormContext = createContext<FormServices>({ faults: [], showJson: () => undefined });

export interface FieldListProps {
  readonly fields: readonly Field[];
  /** Canonical text of the object. */
  readonly text: string;
  /** JSON Pointer (RFC 6901) of the object. */
  readonly pointer: string;
  readonly onChange: (text: string) => void;
}

export function FieldList({ fields, text, pointer, onChange }: FieldListProps) {
  const values = valuesOf(text);
  return (
    <>
      {fields.map((field) => (
        <FieldRow
          key={field.name}
          field={field}
          pointer={childPointer(pointer, field.name)}
          value={values.get(field.name)}
          onChange={(value) => onChange(withValue(text, field.name, value))}
        />
      ))}
    </>
  );
}

function withValue(text: string, name: string, value: string | undefined): string {
  return value === undefined ? withoutMembers(text, new Set([name])) : mergeMembers(text, new Map([[name, value]]));
}

interface FieldRowProps {
  readonly field: Field;
  readonly pointer: string;
  /** JSON text; undefined: there is none. */
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

function FieldRow(props: FieldRowProps) {
  const { control } = props.field;
  if (!fits(control, props.value) || control.kind === "json") return <JsonRow {...props} />;
  if (control.kind === "group") return <GroupRow {...props} fields={control.fields} />;
  return control.kind === "list" ? <ListRow {...props} item={control.item} /> : <ScalarRow {...props} />;
}

function ScalarRow({ field, pointer, value, onChange }: FieldRowProps) {
  const id = useId();
  const faults = useFaults(pointer);
  const attributes = { id, "aria-describedby": `${id}-about`, "aria-invalid": faults.length > 0 };
  return (
    <div class={`field ${field.control.kind}`}>
      <label for={id}>
        <Label field={field} />
      </label>
      <ScalarControl field={field} value={value} onChange={onChange} attributes={attributes} />
      <About id={`${id}-about`} field={field} faults={faults} />
    </div>
  );
}

interface GroupRowProps extends FieldRowProps {
  readonly fields: readonly Field[];
}

function GroupRow({ field, fields, pointer, value, onChange }: GroupRowProps) {
  const text = isUnset(value) ? "{}" : value;
  return (
    <fieldset class="group">
      <legend>
        <Label field={field} />
      </legend>
      <About field={field} faults={useFaults(pointer)} />
      <FieldList
        fields={fields}
        text={text}
        pointer={pointer}
        onChange={(changed) => onChange(changed === "{}" && !field.isRequired ? undefined : changed)}
      />
    </fieldset>
  );
}

interface ListRowProps extends FieldRowProps {
  readonly item: Field;
}

function ListRow({ field, item, pointer, value, onChange }: ListRowProps) {
  const elements = isUnset(value) ? [] : elementsOf(value);
  const list = useRef<HTMLUListElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  const isAdding = useRef(false);
  useLayoutEffect(() => {
    const added = list.current?.lastElementChild;
    if (isAdding.current) added?.querySelector<HTMLElement>("input, select, textarea, button")?.focus();
    isAdding.current = false;
  }, [elements.length]);
  const one = singularOf(field.label);
  const change = (changed: readonly string[]): void => onChange(`[${changed.join(",")}]`);
  return (
    <fieldset class="group">
      <legend>
        <Label field={field} />
      </legend>
      <About field={field} faults={useFaults(pointer)} />
      <ul class="elements" ref={list}>
        {elements.map((element, index) => (
          <li key={index}>
            <FieldRow
              field={{ ...item, label: `${one} ${index + 1}` }}
              pointer={childPointer(pointer, index)}
              value={element}
              onChange={(changed) => change(elements.with(index, changed ?? firstElement(item)))}
            />
            <button
              type="button"
              aria-label={`Remove ${one} ${index + 1}`}
              onClick={() => {
                add.current?.focus();
                change(elements.toSpliced(index, 1));
              }}
            >
              ✕
            </button>
          </li>
        ))}
      </ul>
      <button
        type="button"
        ref={add}
        onClick={() => {
          isAdding.current = true;
          change([...elements, firstElement(item)]);
        }}
      >
        Add {one}
      </button>
    </fieldset>
  );
}

/** Characters of a value that the form shows only. */
const maxShown = 200;

function JsonRow({ field, pointer, value }: FieldRowProps) {
  const { faults, showJson } = useContext(FormContext);
  const own = faults.filter((fault) => fault.pointer === pointer || fault.pointer.startsWith(`${pointer}/`));
  return (
    <div class="field">
      <span class="label">
        <Label field={field} />
      </span>
      <div>
        {value !== undefined && <code>{value.length > maxShown ? `${value.slice(0, maxShown)}…` : value}</code>}
        <button type="button" onClick={showJson}>
          Edit {field.label} as JSON
        </button>
      </div>
      <About field={field} faults={own} />
    </div>
  );
}

function Label({ field }: { readonly field: Field }) {
  return (
    <>
      {field.label}
      {field.isRequired && field.isElement !== true && <span class="quiet"> required</span>}
    </>
  );
}

function useFaults(pointer: string): readonly EditorFault[] {
  return useContext(FormContext).faults.filter((fault) => fault.pointer === pointer);
}

interface AboutProps {
  readonly id?: string;
  readonly field: Field;
  readonly faults: readonly EditorFault[];
}

function About({ id, field, faults }: AboutProps) {
  const wrong = new Set(faults.map((fault) => describeFault(field, fault)));
  const { description } = field;
  return (
    <div class="about" {...(id !== undefined && { id })}>
      {[...wrong].map((words) => (
        <p key={words} class="wrong">
          {words}
        </p>
      ))}
      {description !== undefined && !wrong.has(description) && <p class="quiet">{description}</p>}
    </div>
  );
}
