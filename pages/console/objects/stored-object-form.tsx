// A stored object in an editor. It is saved as a JSON Patch and deleted on the condition that
// nobody has changed it meanwhile.

import { useMemo, useRef, useState } from "preact/hooks";
import type { Caller } from "../../sign-in/sign-in.ts";
import { useConsole } from "../console-context.ts";
import type { Resource } from "../description.ts";
import { prettyJson } from "../editor/pretty.ts";
import { FormOrJson } from "../form/form-or-json.tsx";
import { useLive } from "../live/use-live.ts";
import { isInScope } from "../permitted.ts";
import { ProblemMessage } from "../problem-message.tsx";
import { ConflictNotice, type ConflictOutcome } from "../stored/conflict-notice.tsx";
import { StoredActions } from "../stored/stored-actions.tsx";
import type { Stored, StoredText, StoredTextState } from "../stored/stored-text.ts";
import { useIsShown, useStoredText } from "../stored/use-stored-text.ts";
import { go } from "../use-route.ts";
import { useUnsaved } from "../use-unsaved.ts";
import { ViewHeading } from "../view-heading.tsx";
import { type Edited, editablePart, readEdited } from "./changes.ts";
import { type StoredObject, titleOf } from "./columns.ts";
import { keepNumbersExact } from "./exact-number.ts";
import { singularOf } from "./names.ts";
import { timeOf } from "./time-of.ts";
import { useCreation } from "./use-creation.ts";

export function StoredObjectForm({ resource, id }: { readonly resource: Resource; readonly id: string }) {
  const url = `api/${encodeURIComponent(resource.name)}/${encodeURIComponent(id)}`;
  const object = useStoredText({ url, editable: (body) => prettyJson(editablePart(body)), writeOf: patchOf });
  const { stored, loadProblem } = object.state;
  const live = useLive({
    url,
    loaded: stored && { position: stored.position },
    described: resource,
    refetch: () => object.load(),
    isCurrent: ({ etag }) => etag !== undefined && etag === object.state.stored?.etag,
  });
  const title = useMemo(
    () => (stored === undefined ? undefined : titleOf(resource.fields, JSON.parse(stored.body, keepNumbersExact))),
    [resource.fields, stored],
  );
  return (
    <>
      <ViewHeading name={title ?? id} titled={`${title ?? id} – ${resource.name}`} live={live} />
      {title !== undefined && <p class="quiet id">{id}</p>}
      {stored !== undefined && <LoadedObjectForm resource={resource} object={object} stored={stored} title={title} />}
      {stored === undefined && loadProblem === undefined && <p role="status">Loading…</p>}
      <ProblemMessage problem={loadProblem} />
    </>
  );
}

function patchOf(draft: string, stored: Stored | undefined) {
  const edited = readEdited(stored?.body ?? "{}", draft);
  if (!edited.ok) throw new TypeError("Only a draft that is an object is saved");
  return { method: "PATCH", body: edited.patch, contentType: "application/json-patch+json" } as const;
}

interface LoadedObjectFormProps {
  readonly resource: Resource;
  readonly object: StoredText;
  readonly stored: Stored;
  readonly title: string | undefined;
}

function LoadedObjectForm({ resource, object, stored, title }: LoadedObjectFormProps) {
  const { signIn, unsaved, visited } = useConsole();
  const isShown = useIsShown();
  const [done] = useState(() => visited.takeDone());
  const { name } = resource;
  const caller = signIn.credential?.caller;
  const may = useMemo(() => mayOf(resource, stored, caller), [resource, stored, caller]);
  const { draft, writeProblem, conflict, writing } = object.state;
  const edited = readEdited(stored.body, draft);
  const isDirty = !edited.ok || edited.isChanged;
  const canSave = may.update && edited.ok && writing === undefined;
  useUnsaved(isDirty);

  const leaveDeleted = (): void => {
    if (!isShown.current) return;
    unsaved.clear();
    visited.leaveWith("Deleted.");
    go(visited.latestOf(name));
  };
  const form = useRef<HTMLFormElement>(null);
  const save = (): void => {
    if (form.current?.reportValidity() === false) return;
    if (canSave && isDirty) void object.save(stored);
  };
  const onSettled = (outcome: ConflictOutcome): void => {
    if (outcome === "delete" || outcome === "discard") leaveDeleted();
  };
  // Of a draft whose object somebody has deleted: an id is not used twice.
  const recreation = useCreation(name);
  return (
    <>
      <Metadata body={stored.body} />
      <ProblemMessage problem={writeProblem ?? recreation.problem} />
      {conflict !== undefined && (
        <ConflictNotice
          stored={object}
          noun="object"
          fields={resource.fields}
          canSave={canSave}
          onSettled={onSettled}
          recreate={
            resource.may.create
              ? { label: "Create a new object from mine", onClick: () => void recreation.create(draft) }
              : undefined
          }
        />
      )}
      <FormOrJson
        label={`This ${singularOf(name)}`}
        fields={resource.fields}
        formRef={form}
        text={draft}
        faults={writeProblem?.errors ?? []}
        readOnly={!may.update}
        onChange={(text) => object.edit(text)}
        onSave={save}
      />
      <StoredActions
        stored={object}
        may={{ save: may.update, delete: may.delete }}
        canSave={canSave && isDirty}
        onSave={save}
        deletion={{
          title: title === undefined ? `Delete this ${singularOf(name)}?` : `Delete “${title}”?`,
          text: "It is deleted for everybody. This can't be undone.",
        }}
        onDelete={() =>
          void object.remove(stored).then((isDone) => {
            if (isDone) leaveDeleted();
          })
        }
      >
        <span role="status" class="quiet">
          {statusOf(object.state, edited) || done}
        </span>
      </StoredActions>
    </>
  );
}

function mayOf(resource: Resource, { body }: Stored, caller: Caller | undefined) {
  const isOffered = isInScope(resource, JSON.parse(body) as StoredObject, caller);
  return isOffered ? resource.may : { update: false, delete: false };
}

function statusOf({ writing, message, conflict }: StoredTextState, edited: Edited): string {
  if (writing !== undefined) return writing === "save" ? "Saving…" : "Deleting…";
  if (!edited.ok) return edited.message;
  if (!edited.isChanged) return message;
  return conflict === undefined ? "Not saved yet" : "Not saved yet: see above";
}

function Metadata({ body }: { readonly body: string }) {
  const { _metadata } = JSON.parse(body) as { readonly _metadata?: Readonly<Record<string, unknown>> };
  const { created, creator, creator_type: kind } = _metadata ?? {};
  if (created === undefined) return null;
  return (
    <p class="quiet">
      Created {timeOf(created)} by{" "}
      {kind === "anonymous" ? "an anonymous caller" : `${kind === "apikey" ? "the API key " : ""}${creator}`}
    </p>
  );
}
