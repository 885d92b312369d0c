// The form that adds a member to an object, or an element to the end of an array.

import { useRef, useState } from "preact/hooks";
import type { Problem, SignIn } from "../../sign-in/sign-in.ts";
import { JsonEditor } from "../editor/json-editor.tsx";
import { sendValue, wordsOf } from "./stored-value.ts";
import { urlOf, type ValuePath } from "./value-path.ts";

export interface AddMemberProps {
  readonly signIn: SignIn;
  readonly rootKey: string;
  /** Of the object or array. */
  readonly path: ValuePath;
  readonly kind: "object" | "array";
  /** Why nothing can be added now. */
  readonly hindrance?: string | undefined;
  /** Called whenever the form begins or ceases to hold something that would be lost with it. */
  readonly onTyped: (hasText: boolean) => void;
  /** `name` = that of what was added; undefined of an element. */
  readonly onAdded: (name: string | undefined) => void;
}

export function AddMember({ signIn, rootKey, path, kind, hindrance, onTyped, onAdded }: AddMemberProps) {
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const isMember = kind === "object";
  const isIdle = isBusy || hindrance !== undefined;
  const what = isMember ? "member" : "element";

  const change = (nextName: string, nextText: string) => {
    setName(nextName);
    setText(nextText);
    onTyped(nextName !== "" || nextText !== "");
  };
  const add = async () => {
    const url = urlOf(rootKey, [...path, isMember ? name : "-"]);
    if (url === undefined) return setProblem(unaddressable);
    setBusy(true);
    const answer = await sendValue(signIn, { url, method: "POST", body: text });
    setBusy(false);
    if (!answer.ok) return setProblem(answer.problem);
    setProblem(undefined);
    change("", "");
    onAdded(isMember ? name : undefined);
    field.current?.focus();
  };
  return (
    <details class="add">
      <summary>{isMember ? "Add a member" : "Add an element at the end"}</summary>
      <form
        autocomplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isIdle) void add();
        }}
      >
        {isMember && (
          <label>
            Name{" "}
            <input
              ref={field}
              value={name}
              autocapitalize="none"
              spellcheck={false}
              onInput={(event) => change(event.currentTarget.value, text)}
            />
          </label>
        )}
        <JsonEditor
          label={`Value of the new ${what}`}
          text={text}
          faults={problem?.errors ?? noErrors}
          onChange={(typed) => change(name, typed)}
          onSave={() => void (isIdle || add())}
        />
        {problem !== undefined && (
          <p class="fault" role="alert">
            {wordsOf(problem, signIn)}
          </p>
        )}
        {hindrance !== undefined && <p class="quiet">{hindrance}</p>}
        <button type="submit" class="main" aria-disabled={isIdle}>
          Add
        </button>
      </form>
    </details>
  );
}

const noErrors = [] as const;
const unaddressable: Problem = {
  status: 400,
  title: "A URL can't contain this name",
  detail: "Choose another one, or add it in the text of the whole object and save that.",
};
