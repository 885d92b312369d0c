// Filters of a list: each a field, an operator and a value. They take effect together, when the form is submitted.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Filter, Resource } from "../description.ts";
import { type Condition, operatorWords, withOperator } from "./list-query.ts";

export interface FilterBarProps {
  readonly resource: Resource;
  readonly conditions: readonly Condition[];
  readonly onApply: (conditions: readonly Condition[]) => void;
}

export function FilterBar({ resource, conditions, onApply }: FilterBarProps) {
  const [rows, setRows] = useState<readonly Condition[]>(conditions);
  const form = useRef<HTMLFormElement>(null);
  /** Which row gets the focus once it is shown; past the last one, the button that adds one does. */
  const focusIndex = useRef<number>(undefined);
  // Applied here, or chosen by the browser's Back.
  useEffect(() => setRows(conditions.map((row) => withOperator(row, row.operator))), [JSON.stringify(conditions)]);
  useLayoutEffect(() => {
    const fields = form.current?.querySelectorAll<HTMLElement>("fieldset > select:first-of-type, .add-filter");
    if (focusIndex.current !== undefined) fields?.item(Math.min(focusIndex.current, fields.length - 1)).focus();
    focusIndex.current = undefined;
  }, [rows]);
  const fields = fieldsIn(resource.filters);
  const [first] = fields.keys();
  if (first === undefined) return null;
  const change = (changed: readonly Condition[], focus: number): void => {
    focusIndex.current = focus;
    setRows(changed);
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
        onApply(rows);
      }}
    >
      {rows.map((row, index) => (
        <FilterRow
          key={index}
          row={row}
          fields={fields}
          onChange={(changed) => setRows(rows.with(index, changed))}
          onRemove={() => change(rows.toSpliced(index, 1), index)}
        />
      ))}
      <div class="actions">
        <button
          type="button"
          class="add-filter"
          onClick={() => change([...rows, { field: first, operator: "", value: "" }], rows.length)}
        >
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
  const operators = fields.get(row.field) ?? new Map([[row.operator, ""]]);
  return (
    <fieldset class="filter">
      <legend class="visually-hidden">Filter by {row.field}</legend>
      <select
        aria-label="Field"
        value={row.field}
        onChange={({ currentTarget }) => {
          const [operator = ""] = fields.get(currentTarget.value)?.keys() ?? [];
          onChange(withOperator({ ...row, field: currentTarget.value }, operator));
        }}
      >
        {[...fields.keys()].map((field) => (
          <option key={field}>{field}</option>
        ))}
      </select>
      <select
        aria-label="Operator"
        value={row.operator}
        title={operators.get(row.operator)}
        onChange={({ currentTarget }) => onChange(withOperator(row, currentTarget.value))}
      >
        {[...operators.keys()].map((operator) => (
          <option key={operator} value={operator}>
            {operatorWords.get(operator) ?? operator}
          </option>
        ))}
      </select>
      <ValueField row={row} onChange={(value) => onChange({ ...row, value })} />
      <button type="button" aria-label={`Remove the filter by ${row.field}`} onClick={onRemove}>
        ✕
      </button>
    </fieldset>
  );
}

function ValueField({ row, onChange }: { readonly row: Condition; readonly onChange: (value: string) => void }) {
  if (row.operator === "exists") {
    return (
      <select aria-label="Value" value={row.value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option>true</option>
        <option>false</option>
      </select>
    );
  }
  const placeholder = row.operator === "in" ? "a,b,c" : "";
  return (
    <input
      aria-label="Value"
      value={row.value}
      placeholder={placeholder}
      autocomplete="off"
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

/** By field, its operators with what the server says of them. */
type Fields = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** A field that is not indexed is described with "equals" alone, and takes the other operators all the same. */
const ofSmallCollections = ["ne", "gt", "ge", "lt", "le", "in", "starts", "contains", "exists"];

function fieldsIn(filters: readonly Filter[]): Fields {
  const fields = new Map<string, Map<string, string>>();
  for (const { field, operator, description } of filters) {
    const operators = fields.get(field) ?? new Map<string, string>();
    fields.set(field, operators.set(operator, description));
  }
  for (const operators of fields.values()) {
    const [only, ...others] = operators;
    if (others.length > 0 || only?.[0] !== "" || !only[1].includes("Not indexed")) continue;
    for (const operator of ofSmallCollections) operators.set(operator, only[1]);
  }
  return fields;
}
