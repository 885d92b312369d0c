// Filters of a list: each a field, an operator and a value. They take effect together, when the
// form is submitted.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Resource } from "../description.ts";
import { type Condition, labelOf, operandKindOf, withOperator } from "./list-query.ts";

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
    const [field, operators] = first;
    const [operator = ""] = operators.keys();
    change([...rows, withOperator({ field, operator, value: "" }, operator)], rows.length);
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
        onApply(rows);
      }}
    >
      {rows.map((row, index) => (
        <FilterRow
          key={index}
          row={row}
          fields={fields}
          values={resource.fields.find(({ name }) => name === row.field)?.values ?? []}
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
  /** The only ones that the field has; empty where they are not listed. */
  readonly values: readonly string[];
  readonly onChange: (row: Condition) => void;
  readonly onRemove: () => void;
}

function FilterRow({ row, fields, values, onChange, onRemove }: FilterRowProps) {
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
            {labelOf(operator)}
          </option>
        ))}
      </select>
      <ValueField row={row} values={values} onChange={(value) => onChange({ ...row, value })} />
      <button type="button" aria-label={`Remove the filter by ${row.field}`} onClick={onRemove}>
        ✕
      </button>
    </fieldset>
  );
}

interface ValueFieldProps extends Pick<FilterRowProps, "row" | "values"> {
  readonly onChange: (value: string) => void;
}

function ValueField({ row, values, onChange }: ValueFieldProps) {
  const id = useId();
  const kind = operandKindOf(row.operator);
  if (kind === "boolean") {
    return (
      <select aria-label="Value" value={row.value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option>true</option>
        <option>false</option>
      </select>
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

/** By field, its operators with what the server says of them. */
type Fields = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Fields of the schema come first: people filter by them most. */
function fieldsIn({ fields, filters }: Resource): Fields {
  const byField = Map.groupBy(filters, ({ field }) => field);
  const names = new Set([...fields.map(({ name }) => name), ...byField.keys()]);
  return new Map(
    [...names].flatMap((name) => {
      const own = byField.get(name);
      const operators = new Map(own?.map(({ operator, description }) => [operator, description]));
      return own === undefined ? [] : [[name, operators] as const];
    }),
  );
}
