// For callers who may write a root key and not read it: replaces the whole value, whatever it is.

import { useState } from "preact/hooks";
import { ActionButton } from "../action-button.tsx";
import { ConfirmDialog } from "../confirm.tsx";
import { useConsole } from "../console-context.ts";
import { JsonEditor } from "../editor/json-editor.tsx";
import { ProblemMessage } from "../problem-message.tsx";
import { sendConditionally } from "../stored/send-conditionally.ts";
import { useSending } from "../use-sending.ts";
import { useUnsaved } from "../use-unsaved.ts";

export function ReplaceUnread({ url }: { readonly url: string }) {
  const { signIn } = useConsole();
  const [text, setText] = useState("");
  /** The text that was stored last. */
  const [replaced, setReplaced] = useState("");
  const { problem, isBusy, send } = useSending();
  const [isConfirming, setConfirming] = useState(false);
  const isDirty = text.trim() !== "" && text !== replaced;
  const isDisabled = isBusy || !isDirty;
  useUnsaved(isDirty);
  const ask = (): void => {
    if (!isDisabled) setConfirming(true);
  };
  const replace = async (): Promise<void> => {
    setConfirming(false);
    const isDone = await send(async () => {
      const answer = await sendConditionally(signIn, { url, method: "PUT", body: text });
      return answer.ok ? undefined : answer.problem;
    });
    if (isDone) setReplaced(text);
  };
  const isReplaced = replaced !== "" && text === replaced && problem === undefined;
  return (
    <section aria-label="A new value" class="value">
      <p class="quiet">You can't read this value, but you may be allowed to replace it as a whole.</p>
      <JsonEditor label={`New value of ${url}`} text={text} onChange={setText} onSave={ask} />
      <ProblemMessage problem={problem} text={text} />
      <div class="actions">
        <ActionButton kind="main" isDisabled={isDisabled} onClick={ask}>
          Replace…
        </ActionButton>
      </div>
      <p role="status" class="quiet">
        {statusOf(isBusy, isReplaced)}
      </p>
      {isConfirming && (
        <ConfirmDialog
          title="Replace the whole value?"
          text="The current value is replaced without being shown."
          action="Replace"
          onCancel={() => setConfirming(false)}
          onConfirm={() => void replace()}
        />
      )}
    </section>
  );
}

function statusOf(isBusy: boolean, isReplaced: boolean): string {
  if (isBusy) return "Replacing…";
  return isReplaced ? "Replaced." : "";
}
