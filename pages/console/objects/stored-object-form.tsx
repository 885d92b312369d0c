// A stored object in an editor. It is saved and deleted under the tag that it was read with (If-Match): what somebody else has changed
// meanwhile is not lost, and the person decides.

import { useState } from "preact/hooks";
import { type Problem, problemOf, type SignIn } from "../../sign-in/sign-in.ts";
import { ConfirmDialog } from "../confirm.tsx";
import type { Resource } from "../description.ts";
import { JsonEditor } from "../editor/json-editor.tsx";
import { prettyJson } from "../editor/pretty.ts";
import { Fault, unreachable } from "../fault.tsx";
import { forgetUnsaved, useUnsaved } from "../unsaved.ts";
import { go } from "../use-route.ts";
import { readEdited } from "./changes.ts";
import { timeOf } from "./object-table.tsx";
import { loadStored, type Stored, storedIn } from "./stored.ts";

export interface StoredObjectFormProps {
  readonly resource: Resource;
  /** Relative to the project's URL. */
  readonly url: string;
  /** What it begins with. */
  readonly first: Stored;
  readonly signIn: SignIn;
}

/** What became of the last write. */
type Outcome =
  | { readonly kind: "none" | "saved" | "busy" }
  /** The stored object is another one by now. */
  | { readonly kind: "conflict" }
  | { readonly kind: "refused"; readonly problem: Problem };

export function StoredObjectForm({ resource, url, first, signIn }: StoredObjectFormProps) {
  const [stored, setStored] = useState(first);
  const [text, setText] = useState(() => prettyJson(first.text));
  const [outcome, setOutcome] = useState<Outcome>({ kind: "none" });
  const [asks, setAsks] = useState(false);
  const { name, may } = resource;
  const edited = readEdited(stored.text, text);
  const isChanged = !edited.ok || edited.isChanged;
  useUnsaved(isChanged);

  const take = (taken: Stored): void => {
    setStored(taken);
    setText(prettyJson(taken.text));
  };
  const saveOver = async (base: Stored): Promise<void> => {
    const change = readEdited(base.text, text);
    if (!change.ok) return;
    setOutcome({ kind: "busy" });
    const saved = await save(url, change.patch, base.etag, signIn);
    if ("text" in saved) take(saved);
    setOutcome("text" in saved ? { kind: "saved" } : refusal(saved));
  };
  const loadAgain = async (then: (current: Stored) => void | Promise<void>): Promise<void> => {
    const current = await loadStored(url, signIn);
    if ("title" in current) setOutcome({ kind: "refused", problem: current });
    else await then(current);
  };
  const remove = async (): Promise<void> => {
    setAsks(false);
    setOutcome({ kind: "busy" });
    const problem = await removeObject(url, stored.etag, signIn);
    if (problem !== undefined) setOutcome(refusal(problem));
    else {
      forgetUnsaved();
      go({ kind: "list", resource: name, query: "" });
    }
  };
  const isBusy = outcome.kind === "busy";
  return (
    <>
      <Metadata metadata={stored.metadata} />
      {outcome.kind === "refused" && <Fault problem={outcome.problem} />}
      {outcome.kind === "conflict" && (
        <Conflict
          onLoad={() =>
            void loadAgain((current) => {
              take(current);
              setOutcome({ kind: "none" });
            })
          }
          onOverwrite={() => void loadAgain(saveOver)}
        />
      )}
      <JsonEditor
        label={`JSON of this object of ${name}`}
        text={text}
        faults={outcome.kind === "refused" ? (outcome.problem.errors ?? []) : []}
        readOnly={!may.update}
        onChange={setText}
        onSave={() => void saveOver(stored)}
      />
      <div class="actions">
        {may.update && (
          <button
            type="button"
            class="main"
            disabled={isBusy || !edited.ok || !isChanged}
            onClick={() => void saveOver(stored)}
          >
            Save
          </button>
        )}
        {may.update && isChanged && (
          <button type="button" disabled={isBusy} onClick={() => setText(prettyJson(stored.text))}>
            Undo changes
          </button>
        )}
        {may.delete && (
          <button type="button" class="danger" disabled={isBusy} onClick={() => setAsks(true)}>
            Delete
          </button>
        )}
        <span role="status" class="quiet">
          {statusOf(outcome, edited)}
        </span>
      </div>
      {asks && (
        <ConfirmDialog
          title="Delete this object?"
          text="It is deleted for everybody, and can't be brought back."
          action="Delete"
          onConfirm={() => void remove()}
          onCancel={() => setAsks(false)}
        />
      )}
    </>
  );
}

function statusOf(outcome: Outcome, edited: ReturnType<typeof readEdited>): string {
  if (outcome.kind === "busy") return "Saving…";
  if (!edited.ok) return edited.message;
  if (edited.isChanged) return "Not saved yet";
  return outcome.kind === "saved" ? "Saved" : "";
}

function Metadata({ metadata }: Pick<Stored, "metadata">) {
  const { created, creator, creator_type: kind } = metadata;
  if (created === undefined) return null;
  return (
    <p class="quiet">
      Created {timeOf(created)} by {String(creator)} ({String(kind)})
    </p>
  );
}

interface ConflictProps {
  readonly onLoad: () => void;
  readonly onOverwrite: () => void;
}

function Conflict({ onLoad, onOverwrite }: ConflictProps) {
  return (
    <div class="fault" role="alert">
      <p>
        <strong>Somebody else has changed this object meanwhile.</strong> What you entered is still below, and nothing
        was saved.
      </p>
      <div class="actions">
        <button type="button" onClick={onLoad}>
          Load the stored object
        </button>
        <button type="button" class="danger" onClick={onOverwrite}>
          Save mine over it
        </button>
      </div>
    </div>
  );
}

function refusal(problem: Problem): Outcome {
  return problem.code === "precondition_failed" ? { kind: "conflict" } : { kind: "refused", problem };
}

async function save(url: string, patch: string, etag: string, signIn: SignIn): Promise<Stored | Problem> {
  try {
    const headers = { "Content-Type": "application/json-patch+json", "If-Match": etag };
    const response = await signIn.send(url, { method: "PATCH", headers, body: patch });
    return response.ok ? await storedIn(response) : await problemOf(response);
  } catch {
    return unreachable;
  }
}

/** Why it was refused; undefined once it is deleted. */
async function removeObject(url: string, etag: string, signIn: SignIn): Promise<Problem | undefined> {
  try {
    const response = await signIn.send(url, { method: "DELETE", headers: { "If-Match": etag } });
    return response.ok ? undefined : await problemOf(response);
  } catch {
    return unreachable;
  }
}
