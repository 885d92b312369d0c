// One value of a list, edited in its cell. Enter saves it on the condition that nobody has changed
// the object since it was listed, and Escape cancels. What somebody else has stored is shown before
// it is replaced.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../../sign-in/problem.ts";
import { useConsole } from "../console-context.ts";
import { describeProblem } from "../describe-problem.ts";
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
  readonly onClose: () => void;
}

export function CellEditor({ url, listed, path, field, onStored, onClose }: CellEditorProps) {
  const { signIn } = useConsole();
  const { problem, isBusy, send } = useSending();
  const before = cellText(valueIn(listed.item, path));
  const [value, setValue] = useState(before);
  const [first] = useState(before);
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  useUnsaved(value !== first);
  useLayoutEffect(() => {
    const control = form.current?.querySelector<HTMLInputElement>("input, select, textarea");
    control?.focus();
    if (control?.type === "text" || control?.type === "number") control.select();
  }, []);
  useLayoutEffect(() => form.current?.scrollIntoView({ block: "nearest", inline: "nearest" }), [problem]);
  const save = async (): Promise<Problem | undefined> => {
    const { item, etag } = listed;
    if (etag === undefined) return { status: 0, title: "Nothing was saved, because the list came without ETags" };
    const written = { url, method: "PATCH", body: cellPatch(item, path, value), contentType: patchType } as const;
    const answer = await sendConditionally(signIn, { ...written, condition: { etag } });
    if (answer.ok) {
      onStored(listedIn(answer));
      onClose();
      return undefined;
    }
    if (answer.problem.status !== 412) return answer.problem;
    const current = await sendConditionally(signIn, { url, method: "GET" });
    if (!current.ok) return current.problem;
    onStored(listedIn(current));
    return answer.problem;
  };
  return (
    <form
      ref={form}
      class="cell-editor"
      onSubmit={(event) => {
        event.preventDefault();
        if (value === before && problem === undefined) onClose();
        else void send(save);
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
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
        attributes={{ "aria-label": field.label, "aria-describedby": id, "aria-invalid": problem !== undefined }}
      />
      <button type="submit" class="main" aria-label="Save" aria-disabled={isBusy}>
        ✓
      </button>
      <button type="button" aria-label="Cancel" onClick={onClose}>
        ✕
      </button>
      <div id={id} role="alert">
        {problem !== undefined && (
          <p class="wrong">
            {problem.status === 412 ? (
              <>
                Somebody else changed this object meanwhile. Stored now:{" "}
                <CellValue value={valueIn(listed.item, path)} />. Save replaces it by yours.
              </>
            ) : (
              wordsOf(problem, signIn.credential !== undefined)
            )}
          </p>
        )}
      </div>
    </form>
  );
}

const patchType = "application/json-patch+json";

function listedIn({ text, etag }: Extract<Answer, { readonly ok: true }>): ListedObject {
  return { item: JSON.parse(text, keepNumbersExact) as StoredObject, etag };
}

function wordsOf(problem: Problem, isSignedIn: boolean): string {
  const { code, errors = [] } = problem;
  const [error] = errors;
  return code === "validation_failed" && error !== undefined
    ? `${error.message}.`
    : describeProblem(problem, isSignedIn);
}
