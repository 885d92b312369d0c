// For callers who may write a root key and not read it: replaces the whole value, whatever it is.

import { useState } from "preact/hooks";
import type { Problem, SignIn } from "../../sign-in/sign-in.ts";
import { ConfirmDialog } from "../confirm.tsx";
import { JsonEditor } from "../editor/json-editor.tsx";
import { sendValue, wordsOf } from "./stored-value.ts";

export function ReplaceUnread({ signIn, url }: { readonly signIn: SignIn; readonly url: string }) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<Problem>();
  const [message, setMessage] = useState("");
  const [asks, setAsks] = useState(false);
  const replace = async () => {
    setAsks(false);
    const answer = await sendValue(signIn, { url, method: "PUT", body: text });
    setProblem(answer.ok ? undefined : answer.problem);
    setMessage(answer.ok ? "Replaced." : "");
  };
  return (
    <section aria-label="A new value" class="value">
      <p class="quiet">You can't read this value, but you may be allowed to replace it as a whole.</p>
      <JsonEditor label={`New value of ${url}`} text={text} faults={problem?.errors ?? noErrors} onChange={setText} />
      {problem !== undefined && (
        <p class="fault" role="alert">
          {wordsOf(problem, signIn)}
        </p>
      )}
      <div class="actions">
        <button type="button" class="main" disabled={text.trim() === ""} onClick={() => setAsks(true)}>
          Replace…
        </button>
      </div>
      <p role="status" class="quiet">
        {message}
      </p>
      {asks && (
        <ConfirmDialog
          title="Replace the whole value?"
          text={`What ${url} holds now will be gone, unseen.`}
          action="Replace"
          onCancel={() => setAsks(false)}
          onConfirm={() => void replace()}
        />
      )}
    </section>
  );
}

const noErrors = [] as const;
