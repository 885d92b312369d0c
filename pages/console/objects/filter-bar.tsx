// Filters of a list: each a field, an operator and a value. They take effect together, when the
// form is submitted.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Resource } from "../description.ts";
import type { Field } from "../fields.ts";
import { declaredIn, isFreeText } from "./columns.ts";
import { type Condition, createdField, dateOf, labelOf, operandKindOf, secondsOf, withOperator } from "./list-query.ts";

export interface FilterBarProps {
  readonly resource: Resource;
  readonly conditions: readonly Condition[];
  readonly onApply: (conditions: readonly Condition[]) => void;
}

export function FilterBar({ resource, conditions, onApply }: FilterBarProps) {
  const [rows, setRows] = useState<readonly Condition[]>(conditions);
  const form = useRef<HTMLFormElement>(null);
  /**
   * Which row gets the focus once it is shown; past the last one, the button that adds one does.
   */
  const focusIndex = useRef<number>(undefined);
  // The conditions change when filters are applied, or by the browser's Back. A layout effect,
  // because a later one could run after the next click and drop the row that it added.
  useLayoutEffect(
    () => setRows(conditions.map((row) => withOperator(row, row.operator))),
    [JSON.stringify(conditions)],
  );
  useLayoutEffect(() => {
    const fields = form.current?.querySelectorAll<HTMLElement>("fieldset > select:first-of-type, .add-filter");
    if (focusIndex.current !== undefined) fields?.item(Math.min(focusIndex.current, fields.length - 1)).focus();
    focusIndex.current = undefined;
  }, [rows]);
  const fields = fieldsIn(resource);
  const [first] = fields;
  if (first === undefined) return null;
  const change = (changed: readonly Condition[], focus: number): void => {
    focusIndex.current = focus;
    setRows(changed);
  };
  const add = (): void => {
    change([...rows, firstCondition(...first)], rows.length);
  };
  const remove = (index: number): void => {
    const others = rows.toSpliced(index, 1);
    change(others, index);
    // Where it filters already, it does so no longer.
    if (conditions.length > 0) onApply(others);
  };
  return (
    <form
      ref={form}
      class="filters"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        // The button that was pressed may be gone when nothing is left to apply.
        if (rows.length === 0) form.current?.querySelector<HTMLElement>(".add-filter")?.focus();
        onApply(rows.filter(({ value }) => value !== ""));
      }}
    >
      {rows.map((row, index) => (
        <FilterRow
          key={index}
          row={row}
          fields={fields}
          onChange={(changed) => setRows(rows.with(index, changed))}
          onRemove={() => remove(index)}
        />
      ))}
      <div class="actions">
        <button type="button" class="add-filter" onClick={add}>
          Add filter
        </button>
        {(rows.length > 0 || conditions.length > 0) && <button type="submit">Apply</button>}
      </div>
    </form>
  );
}

interface FilterRowProps {
  readonly row: Condition;
  readonly fields: Fields;
  readonly onChange: (row: Condition) => void;
  readonly onRemove: () => void;
}

function FilterRow({ row, fields, onChange, onRemove }: FilterRowProps) {
  const filterable = fields.get(row.field) ?? { operators: new Map([[row.operator, ""]]), field: undefined };
  const { operators, field } = filterable;
  const name = nameOf(row.field);
  return (
    <fieldset class="filter">
      <legend class="visually-hidden">Filter by {name}</legend>
      <select
        aria-label="Field"
        value={row.field}
        onChange={({ currentTarget }) => {
          const chosen = fields.get(currentTarget.value);
          if (chosen !== undefined) onChange(firstCondition(currentTarget.value, chosen));
        }}
      >
        {[...fields.keys()].map((each) => (
          <option key={each} value={each}>
            {nameOf(each)}
          </option>
        ))}
      </select>
      <select
        aria-label="Operator"
        value={row.operator}
        title={operators.get(row.operator)}
        onChange={({ currentTarget }) => onChange(withOperator(row, currentTarget.value, isBoolean(field)))}
      >
        {[...operators.keys()].map((operator) => (
          <option key={operator} value={operator}>
            {labelOf(operator)}
          </option>
        ))}
      </select>
      <ValueField row={row} field={field} onChange={(value) => onChange({ ...row, value })} />
      <button type="button" aria-label={`Remove the filter by ${name}`} onClick={onRemove}>
        ✕
      </button>
    </fieldset>
  );
}

interface ValueFieldProps extends Pick<FilterRowProps, "row"> {
  readonly field: Field | undefined;
  readonly onChange: (value: string) => void;
}

function ValueField({ row, field, onChange }: ValueFieldProps) {
  const id = useId();
  const kind = operandKindOf(row.operator);
  const { values = [] } = field ?? {};
  if (kind === "boolean" || isBoolean(field)) {
    return (
      <select aria-label="Value" value={row.value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="true">yes</option>
        <option value="false">no</option>
      </select>
    );
  }
  if (row.field === createdField) {
    return (
      <input
        type="date"
        aria-label="Value"
        value={dateOf(row.value)}
        onInput={({ currentTarget }) => onChange(secondsOf(currentTarget.value, row.operator))}
      />
    );
  }
  const placeholder = kind === "list" ? "a,b,c" : "";
  const isOffered = values.length > 0 && kind === "equal";
  return (
    <>
      <input
        type="text"
        aria-label="Value"
        value={row.value}
        placeholder={placeholder}
        autocomplete="off"
        {...(isOffered && { list: id })}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {isOffered && (
        <datalist id={id}>
          {values.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </>
  );
}

interface Filterable {
  /** With what the server says of them. */
  readonly operators: ReadonlyMap<string, string>;
  /** Undefined where the schema does not declare it. */
  readonly field: Field | undefined;
}

type Fields = ReadonlyMap<string, Filterable>;

/** People look for a part of a text, and for what was created since a day. */
function firstCondition(name: string, { operators, field }: Filterable): Condition {
  const [first = ""] = operators.keys();
  const isText = field === undefined || isFreeText(field);
  const usual = ["contains", ...(name === createdField ? ["ge"] : [])];
  const operator = (isText ? usual.find((each) => operators.has(each)) : undefined) ?? first;
  return withOperator({ field: name, operator, value: "" }, operator, isBoolean(field));
}

function isBoolean(field: Field | undefined): boolean {
  return field?.control.kind === "boolean";
}

/** As the list's columns are called. */
function nameOf(field: string): string {
  return field.replace(/^_metadata\./, "");
}

/** Neither yes nor no is the greater one, and each is a part of nothing. */
const ofBooleans: ReadonlySet<string> = new Set(["", "ne", "exists"]);

/** Fields of the schema come first: people filter by them most. */
function fieldsIn({ fields, filters }: Resource): Fields {
  const byField = Map.groupBy(filters, ({ field }) => field);
  const declared = new Map(declaredIn(fields, []).map(({ name, field }) => [name, field]));
  const names = new Set([...fields.map(({ name }) => name), ...byField.keys()]);
  return new Map(
    [...names].flatMap((name) => {
      const own = byField.get(name);
      const field = declared.get(name);
      const offered = (own ?? []).filter(({ operator }) => !isBoolean(field) || ofBooleans.has(operator));
      const operators = new Map(offered.map(({ operator, description }) => [operator, description]));
      return operators.size === 0 ? [] : [[name, { operators, field }] as const];
    }),
  );
}
