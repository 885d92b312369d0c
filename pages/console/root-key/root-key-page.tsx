// One root key: its value as a tree, and an editor for the selected value.

import { useEffect, useRef, useState } from "preact/hooks";
import { pointerOf } from "../../../core/json/json-pointer.ts";
import type { Problem } from "../../sign-in/problem.ts";
import { ActionButton } from "../action-button.tsx";
import { ConfirmDialog, DiscardDialog } from "../confirm.tsx";
import { useConsole } from "../console-context.ts";
import type { RootKey } from "../description.ts";
import { JsonEditor } from "../editor/json-editor.tsx";
import { prettyJson } from "../editor/pretty.ts";
import type { ReadResult } from "../live/follow-changes.ts";
import { useLive } from "../live/use-live.ts";
import { ProblemMessage } from "../problem-message.tsx";
import { sendConditionally } from "../stored/send-conditionally.ts";
import { mayRetry } from "../stored/stored-text.ts";
import { useSending } from "../use-sending.ts";
import { useUnsaved } from "../use-unsaved.ts";
import { ViewHeading } from "../view-heading.tsx";
import { textAt } from "./tree-rows.ts";
import { type PanelAction, ValuePanel } from "./value-panel.tsx";
import { urlOf, type ValuePath } from "./value-path.ts";
import { ValueTree } from "./value-tree.tsx";

interface Loaded {
  /** The entire value as it was last read. */
  readonly text?: string;
  readonly etag?: string | undefined;
  /** From where its changes can be followed. */
  readonly position?: string | undefined;
  /** Why it could not be read the last time. */
  readonly problem?: Problem | undefined;
}

interface WholeValue extends Loaded {
  /** Reads it again. Undefined where a newer read has begun, or the server can't answer now. */
  readonly refetch: () => Promise<ReadResult | undefined>;
}

function useWholeValue(url: string, mayRead: boolean): WholeValue {
  const { signIn } = useConsole();
  const [loaded, setLoaded] = useState<Loaded>({});
  const newest = useRef(0);
  const refetch = async (): Promise<ReadResult | undefined> => {
    newest.current += 1;
    const number = newest.current;
    const answer = await sendConditionally(signIn, { url, method: "GET" });
    if (number !== newest.current) return undefined;
    if (answer.ok) setLoaded(answer);
    // What is shown, and what was entered there, stays while the server can't be reached.
    else setLoaded((before) => ({ ...before, problem: answer.problem }));
    if (answer.ok) return { position: answer.position };
    return mayRetry(answer.problem) ? undefined : { position: undefined };
  };
  useEffect(() => {
    if (mayRead) void refetch();
    return () => {
      newest.current += 1;
    };
  }, [signIn, url, mayRead]);
  return { ...loaded, refetch };
}

export function RootKeyPage({ rootKey }: { readonly rootKey: RootKey }) {
  const { name, may } = rootKey;
  const url = urlOf(name, []) ?? "";
  const { text, etag, position, problem, refetch } = useWholeValue(url, may.read);
  /** How often the chosen value was read again. */
  const [reloadCount, setReloadCount] = useState(0);
  const reload = (): Promise<ReadResult | undefined> => {
    setReloadCount((before) => before + 1);
    return refetch();
  };
  const onWritten = (action: PanelAction): void => void (action === "add" ? reload() : refetch());
  const live = useLive({
    url,
    loaded: text === undefined && problem === undefined ? undefined : { position },
    described: rootKey,
    refetch: reload,
    isCurrent: (change) => change.etag !== undefined && change.etag === etag,
  });
  const isReadable = may.read && problem?.status !== 403;
  return (
    <>
      <div class="heading">
        <ViewHeading name={name} live={text === undefined ? undefined : live} />
        {may.read && <ActionButton onClick={() => void reload()}>Reload</ActionButton>}
      </div>
      <ProblemMessage problem={problem} />
      {text !== undefined && (
        <TreeAndPanel rootKey={rootKey} text={text} reloadCount={reloadCount} onWritten={onWritten} />
      )}
      {isReadable && text === undefined && problem === undefined && <p>Loading…</p>}
      {!isReadable && text === undefined && may.write && <ReplaceUnread url={url} />}
    </>
  );
}

interface TreeAndPanelProps {
  readonly rootKey: RootKey;
  readonly text: string;
  readonly reloadCount: number;
  readonly onWritten: (action: PanelAction) => void;
}

function TreeAndPanel({ rootKey, text, reloadCount, onWritten }: TreeAndPanelProps) {
  const { name, may } = rootKey;
  const [path, setPath] = useState<ValuePath>([]);
  const [isDirty, setDirty] = useState(false);
  /** What was chosen while something entered would be lost. */
  const [pendingPath, setPendingPath] = useState<ValuePath>();
  useUnsaved(isDirty);
  const columns = useRef<HTMLDivElement>(null);
  const chosen = pointerOf(path);
  const latest = useRef(chosen);
  latest.current = chosen;
  const choose = (next: ValuePath): void => {
    if (pointerOf(next) === chosen) return;
    if (isDirty) setPendingPath(next);
    else setPath(next);
  };
  const onPanelWritten = (action: PanelAction): void => {
    const isGone = action === "delete" || action === "discard";
    // Unless the person has chosen something else meanwhile.
    if (isGone && latest.current === chosen) {
      const parent = path.slice(0, -1);
      setPath(parent);
      // The button that had the focus belongs to what is gone.
      columns.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(pointerOf(parent))}"]`)?.focus();
    }
    onWritten(action);
  };
  const url = urlOf(name, path);
  const place = [name, ...path].join(" › ");
  return (
    <div class="tree-and-value" ref={columns}>
      <ValueTree name={name} text={text} chosen={chosen} onChoose={choose} />
      <section aria-label="The chosen value" class="value">
        <h2 class="path" tabIndex={-1}>
          {place}
        </h2>
        {url === undefined ? (
          <Unaddressable label={place} text={textAt(text, path) ?? ""} />
        ) : (
          <ValuePanel
            key={url}
            rootKey={name}
            path={path}
            whole={text}
            url={url}
            may={may}
            reloadCount={reloadCount}
            onDirty={setDirty}
            onWritten={onPanelWritten}
          />
        )}
      </section>
      {pendingPath !== undefined && (
        <DiscardDialog
          onCancel={() => setPendingPath(undefined)}
          onDiscard={() => {
            setPendingPath(undefined);
            setDirty(false);
            setPath(pendingPath);
          }}
        />
      )}
    </div>
  );
}

function Unaddressable({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <>
      <p class="quiet">A URL can't contain one of these names. To change the value, change the object around it.</p>
      <JsonEditor label={`Value of ${label}`} text={prettyJson(text)} readOnly />
    </>
  );
}

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
