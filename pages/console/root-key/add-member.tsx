// The form that adds a member to an object, or an element to the end of an array.

import { useRef, useState } from "preact/hooks";
import type { Problem } from "../../sign-in/problem.ts";
import { ActionButton } from "../action-button.tsx";
import { useConsole } from "../console-context.ts";
import { JsonEditor } from "../editor/json-editor.tsx";
import { ProblemMessage } from "../problem-message.tsx";
import { sendConditionally } from "../stored/send-conditionally.ts";
import { useSending } from "../use-sending.ts";
import { urlOf, type ValuePath } from "./value-path.ts";

export interface AddMemberProps {
  readonly rootKey: string;
  /** Of the object or array. */
  readonly path: ValuePath;
  readonly kind: "object" | "array";
  /** Why nothing can be added now. */
  readonly disabledReason?: string | undefined;
  /** Called whenever the form begins or ceases to hold something that would be lost with it. */
  readonly onDirty: (isDirty: boolean) => void;
  /** `name` = that of what was added; undefined of an element. */
  readonly onAdded: (name: string | undefined) => void;
}

export function AddMember(props: AddMemberProps) {
  const { kind, disabledReason } = props;
  const field = useRef<HTMLInputElement>(null);
  const { draft, change, problem, isBusy, add } = useAddition(props);
  const isMember = kind === "object";
  const isDisabled = isBusy || disabledReason !== undefined;
  const submit = async (): Promise<void> => {
    if (!isDisabled && (await add())) field.current?.focus();
  };
  return (
    <details class="add">
      <summary>{isMember ? "Add a value" : "Add an entry at the end"}</summary>
      <form
        autocomplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {isMember && (
          <label>
            Name{" "}
            <input
              ref={field}
              value={draft.name}
              autocapitalize="none"
              spellcheck={false}
              onInput={(event) => change({ name: event.currentTarget.value })}
            />
          </label>
        )}
        <JsonEditor
          label={`The new ${isMember ? "value" : "entry"}`}
          text={draft.text}
          onChange={(text) => change({ text })}
          onSave={() => void submit()}
        />
        <ProblemMessage problem={problem} text={draft.text} />
        {disabledReason !== undefined && <p class="quiet">{disabledReason}</p>}
        <ActionButton type="submit" kind="main" isDisabled={isDisabled}>
          Add
        </ActionButton>
      </form>
    </details>
  );
}

function useAddition({ rootKey, path, kind, onDirty, onAdded }: AddMemberProps) {
  const { signIn } = useConsole();
  const [draft, setDraft] = useState<Draft>(empty);
  const latest = useRef(draft);
  const { problem, isBusy, send } = useSending();
  const isMember = kind === "object";
  const change = (part: Partial<Draft>): void => {
    latest.current = { ...latest.current, ...part };
    setDraft(latest.current);
    onDirty(latest.current.name !== "" || latest.current.text !== "");
  };
  const request = async (): Promise<Problem | undefined> => {
    const url = urlOf(rootKey, [...path, isMember ? draft.name : "-"]);
    if (url === undefined) return unaddressable;
    const answer = await sendConditionally(signIn, { url, method: "POST", body: draft.text });
    return answer.ok ? undefined : answer.problem;
  };
  /** True once it is added. */
  const add = async (): Promise<boolean> => {
    if (!(await send(request))) return false;
    // What was entered meanwhile is the next one.
    if (latest.current === draft) change(empty);
    onAdded(isMember ? draft.name : undefined);
    return true;
  };
  return { draft, change, problem, isBusy, add };
}

interface Draft {
  readonly name: string;
  readonly text: string;
}

const empty: Draft = { name: "", text: "" };
const unaddressable: Problem = {
  status: 400,
  title: "A URL can't contain this name",
  detail: "Choose another one, or add it in the text of the whole object and save that.",
};
