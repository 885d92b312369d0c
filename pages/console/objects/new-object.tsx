// A form for a new object. Begins with an example that fits the schema, where the server has one.

import { useState } from "preact/hooks";
import { type Problem, problemOf, type SignIn } from "../../sign-in/sign-in.ts";
import type { Resource } from "../description.ts";
import { JsonEditor } from "../editor/json-editor.tsx";
import { Fault, unreachable } from "../fault.tsx";
import { forgetUnsaved, useUnsaved } from "../unsaved.ts";
import { go } from "../use-route.ts";

export function NewObject({ resource, signIn }: { readonly resource: Resource; readonly signIn: SignIn }) {
  const start = resource.sample ?? "{\n  \n}";
  const [text, setText] = useState(start);
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  useUnsaved(text !== start);
  const create = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    const created = await createObject(resource.name, text, signIn);
    setBusy(false);
    if (typeof created !== "string") setProblem(created);
    else {
      forgetUnsaved();
      go({ kind: "object", resource: resource.name, id: created });
    }
  };
  return (
    <>
      <h1>New object</h1>
      {problem !== undefined && <Fault problem={problem} />}
      <JsonEditor
        label={`JSON of the new object of ${resource.name}`}
        text={start}
        faults={problem?.errors ?? []}
        onChange={setText}
        onSave={() => void create()}
      />
      <div class="actions">
        <button type="button" class="main" disabled={isBusy} onClick={() => void create()}>
          Create
        </button>
      </div>
    </>
  );
}

/** Its id, or why it was refused. */
async function createObject(resource: string, body: string, signIn: SignIn): Promise<string | Problem> {
  try {
    const headers = { "Content-Type": "application/json" };
    const response = await signIn.send(`api/${encodeURIComponent(resource)}`, { method: "POST", headers, body });
    if (!response.ok) return await problemOf(response);
    return ((await response.json()) as { readonly id: string }).id;
  } catch {
    return unreachable;
  }
}
