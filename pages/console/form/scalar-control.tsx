// The control for one value without parts: a text, a number, a date, a choice, or true and false.
// What it can't read is not reported as a change; the browser says so when the form is saved.

import { useRef } from "preact/hooks";
import { type Field, plainText } from "../fields.ts";
import { clearedValue, isUnset, localTime, numberText, timeAt } from "./form-text.ts";

export interface ScalarControlProps {
  readonly field: Field;
  /** JSON text; undefined: there is none. */
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly attributes: {
    readonly id?: string;
    readonly "aria-label"?: string;
    readonly "aria-describedby"?: string;
    readonly "aria-invalid"?: boolean;
  };
}

export function ScalarControl(props: ScalarControlProps) {
  const { control } = props.field;
  switch (control.kind) {
    case "boolean":
      return <BooleanControl {...props} />;
    case "choice":
      return <ChoiceControl {...props} options={control.options} />;
    case "number":
      return <NumberControl {...props} step={control.step} />;
    case "text":
      return <TextControl {...props} {...control} />;
    default:
      return null;
  }
}

function BooleanControl({ field, value, onChange, attributes }: ScalarControlProps) {
  return (
    <>
      <input
        type="checkbox"
        {...attributes}
        checked={value === "true"}
        onChange={({ currentTarget }) => onChange(String(currentTarget.checked))}
      />
      {isUnset(value) && <span class="quiet unset">not set</span>}
      {!isUnset(value) && !field.isRequired && (
        <button type="button" class="clear" onClick={() => onChange(clearedValue(field))}>
          Unset<span class="visually-hidden"> {field.label}</span>
        </button>
      )}
    </>
  );
}

interface ChoiceControlProps extends ScalarControlProps {
  readonly options: readonly string[];
}

function ChoiceControl({ field, value, onChange, attributes, options }: ChoiceControlProps) {
  const given = isUnset(value) ? "" : value;
  // Stored before the schema had these options.
  const all = given === "" || options.includes(given) ? options : [...options, given];
  return (
    <select
      {...attributes}
      value={given}
      onChange={({ currentTarget }) => onChange(currentTarget.value === "" ? clearedValue(field) : currentTarget.value)}
    >
      <option value="">{field.isRequired ? "Choose…" : "–"}</option>
      {all.map((option) => (
        <option key={option} value={option}>
          {plainText(JSON.parse(option))}
        </option>
      ))}
    </select>
  );
}

interface NumberControlProps extends ScalarControlProps {
  readonly step: string;
}

function NumberControl({ field, value, onChange, attributes, step }: NumberControlProps) {
  /** `1.50` while the value is 1.5: its writer may go on to 1.505. */
  const typed = useRef("");
  const given = isUnset(value) ? "" : value;
  return (
    <input
      type="number"
      {...attributes}
      step={step}
      placeholder={field.placeholder}
      value={numberText(typed.current) === given ? typed.current : given}
      onInput={({ currentTarget }) => {
        typed.current = currentTarget.value;
        if (!currentTarget.validity.badInput) onChange(numberText(typed.current) ?? clearedValue(field));
      }}
    />
  );
}

interface TextControlProps extends ScalarControlProps {
  readonly format?: string;
  readonly isLong: boolean;
}

function TextControl(props: TextControlProps) {
  const { field, value, onChange, attributes, format, isLong } = props;
  if (format === "date" || format === "date-time") return <DateControl {...props} isTime={format === "date-time"} />;
  const given = textIn(value);
  const shared = {
    ...attributes,
    value: given,
    placeholder: field.placeholder,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onChange(textValue(field, currentTarget.value)),
  };
  // An input takes line breaks out.
  return isLong || /[\r\n]/.test(given) ? <textarea {...shared} rows={4} /> : <input type="text" {...shared} />;
}

interface DateControlProps extends ScalarControlProps {
  readonly isTime: boolean;
}

function DateControl({ field, value, onChange, attributes, isTime }: DateControlProps) {
  const given = textIn(value);
  return (
    <input
      type={isTime ? "datetime-local" : "date"}
      {...attributes}
      {...(isTime && { step: 1 })}
      value={isTime && given !== "" ? localTime(given) : given}
      onInput={({ currentTarget: { value: entered, validity } }) => {
        const text = isTime && entered !== "" ? timeAt(entered) : entered;
        if (!validity.badInput) onChange(textValue(field, text));
      }}
    />
  );
}

function textIn(value: string | undefined): string {
  return isUnset(value) ? "" : (JSON.parse(value) as string);
}

function textValue(field: Field, text: string): string | undefined {
  return text === "" ? clearedValue(field) : JSON.stringify(text);
}
