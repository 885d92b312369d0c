// One value of a list, edited in its cell. Enter saves it, and so does leaving the cell; Escape
// cancels. It is saved on the condition that nobody has changed it since it was listed: what
// somebody else has stored is shown before it is replaced, also where that comes while the cell is
// open.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../../sign-in/problem.ts";
import { useConsole } from "../console-context.ts";
import { describeFault, describeProblem } from "../describe-problem.ts";
import type { Field } from "../fields.ts";
import { ScalarControl } from "../form/scalar-control.tsx";
import { type Answer, sendConditionally } from "../stored/send-conditionally.ts";
import { useSending } from "../use-sending.ts";
import { useUnsaved } from "../use-unsaved.ts";
import { cellPatch } from "./cell-patch.ts";
import { CellValue, cellText } from "./cell-value.tsx";
import { type ListedObject, type StoredObject, valueIn } from "./columns.ts";
import { keepNumbersExact } from "./exact-number.ts";

export interface CellEditorProps {
  readonly url: string;
  readonly listed: ListedObject;
  readonly path: readonly string[];
  readonly field: Field;
  /** What is stored by now. */
  readonly onStored: (listed: ListedObject) => void;
  /** `hasFocus`: the person has not gone on to something else. */
  readonly onClose: (hasFocus: boolean) => void;
}

export function CellEditor({ url, listed, path, field, onStored, onClose }: CellEditorProps) {
  const { signIn } = useConsole();
  const { problem, isBusy, send } = useSending();
  const before = cellText(valueIn(listed.item, path));
  const [value, setValue] = useState(before);
  /** What was stored when the person began. */
  const [seen, setSeen] = useState(before);
  const isTheirs = before !== seen && value !== before;
  if (before !== seen && (value === seen || value === before)) {
    // Nothing of the person's own is in the cell.
    setSeen(before);
    setValue(before);
  }
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  useUnsaved(value !== seen);
  useLayoutEffect(() => {
    const control = form.current?.querySelector<HTMLInputElement>("input, select, textarea");
    control?.focus();
    if (control?.type === "text" || control?.type === "number") control.select();
  }, []);
  useLayoutEffect(() => form.current?.scrollIntoView({ block: "nearest", inline: "nearest" }), [problem, isTheirs]);
  /** What has the focus loses it on the way out, which is not to save it then. */
  const isClosed = useRef(false);
  const close = (): void => {
    isClosed.current = true;
    onClose(form.current?.contains(document.activeElement) === true);
  };
  const save = async ({ item, etag }: ListedObject): Promise<Problem | undefined> => {
    if (etag === undefined) return { status: 0, title: "Nothing was saved, because the list came without ETags" };
    const written = { url, method: "PATCH", body: cellPatch(item, path, value), contentType: patchType } as const;
    const answer = await sendConditionally(signIn, { ...written, condition: { etag } });
    if (answer.ok) {
      onStored(listedIn(answer));
      close();
      return undefined;
    }
    if (answer.problem.status !== 412) return answer.problem;
    const current = await sendConditionally(signIn, { url, method: "GET" });
    if (!current.ok) return current.problem;
    const now = listedIn(current);
    // They changed something else.
    if (now.etag !== etag && cellText(valueIn(now.item, path)) === cellText(valueIn(item, path)))
      return await save(now);
    onStored(now);
    return answer.problem;
  };
  const submit = (): void => {
    if (value === before && problem === undefined) close();
    else void send(() => save(listed));
  };
  return (
    <form
      ref={form}
      class="cell-editor"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        // Another window has it.
        const isLeft = document.hasFocus() && !currentTarget.contains(relatedTarget as Node | null);
        if (isLeft && !isClosed.current && !isTheirs && currentTarget.checkValidity()) submit();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") close();
        // These don't send a form by themselves.
        const isHeld = event.target instanceof HTMLSelectElement || event.target instanceof HTMLTextAreaElement;
        if (event.key !== "Enter" || event.shiftKey || !isHeld) return;
        event.preventDefault();
        form.current?.requestSubmit();
      }}
    >
      <ScalarControl
        field={field}
        value={value}
        onChange={setValue}
        attributes={{
          "aria-label": field.label,
          "aria-describedby": id,
          "aria-invalid": problem !== undefined || isTheirs,
        }}
      />
      <button type="submit" class="main" aria-disabled={isBusy}>
        Save
      </button>
      <button type="button" onClick={close}>
        Cancel
      </button>
      <div id={id} role="alert">
        {isTheirs && (
          <p class="wrong">
            Somebody else changed this meanwhile. Now stored: <CellValue value={valueIn(listed.item, path)} />. Save
            replaces it with yours.
          </p>
        )}
        {problem !== undefined && !isTheirs && (
          <p class="wrong">{wordsOf(field, problem, signIn.credential !== undefined)}</p>
        )}
      </div>
    </form>
  );
}

const patchType = "application/json-patch+json";

function listedIn({ text, etag }: Extract<Answer, { readonly ok: true }>): ListedObject {
  return { item: JSON.parse(text, keepNumbersExact) as StoredObject, etag };
}

function wordsOf(field: Field, problem: Problem, isSignedIn: boolean): string {
  const { code, errors = [] } = problem;
  const [error] = errors;
  const isOfField = code === "validation_failed" || code === "not_unique";
  return isOfField && error !== undefined ? describeFault(field, error) : describeProblem(problem, isSignedIn);
}
