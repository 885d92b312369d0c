// One root key: its value as a tree, and beside it an editor for the value that is chosen there.

import { useEffect, useRef, useState } from "preact/hooks";
import { pointerOf } from "../../../core/json/json-pointer.ts";
import type { Problem, SignIn } from "../../sign-in/sign-in.ts";
import { ConfirmDialog } from "../confirm.tsx";
import type { RootKey } from "../description.ts";
import { JsonEditor } from "../editor/json-editor.tsx";
import { prettyJson } from "../editor/pretty.ts";
import { useUnsaved } from "../unsaved.ts";
import { ReplaceUnread } from "./replace-unread.tsx";
import { sendValue, wordsOf } from "./stored-value.ts";
import { textAt } from "./tree-rows.ts";
import { type PanelAction, ValuePanel } from "./value-panel.tsx";
import { urlOf, type ValuePath } from "./value-path.ts";
import { ValueTree } from "./value-tree.tsx";

export interface RootKeyPageProps {
  readonly rootKey: RootKey;
  readonly signIn: SignIn;
}

interface Loaded {
  /** The value as it was last read. */
  readonly text?: string;
  /** Why it could not be read the last time. */
  readonly problem?: Problem;
}

export function RootKeyPage({ rootKey, signIn }: RootKeyPageProps) {
  const { name, may } = rootKey;
  const url = urlOf(name, []) ?? "";
  const [{ text, problem }, setLoaded] = useState<Loaded>({});
  /** Counts the times at which everything is read anew. */
  const [turn, setTurn] = useState(0);
  const reload = () => setTurn((before) => before + 1);
  useEffect(() => {
    if (!may.read) return;
    let isLatest = true;
    void sendValue(signIn, { url, method: "GET" }).then((answer) => {
      if (!isLatest) return;
      // What is shown, and what was typed there, outlives a server that can't be reached for a while.
      setLoaded((before) => (answer.ok ? { text: answer.text } : { ...before, problem: answer.problem }));
    });
    return () => {
      isLatest = false;
    };
  }, [turn]);

  const isReadable = may.read && problem?.status !== 403;
  return (
    <>
      <div class="heading">
        <h1>{name}</h1>
        {may.read && (
          <button type="button" onClick={reload}>
            Reload
          </button>
        )}
      </div>
      {problem !== undefined && (
        <p class="fault" role="alert">
          {wordsOf(problem, signIn)}
        </p>
      )}
      {text !== undefined && (
        <TreeAndPanel rootKey={rootKey} signIn={signIn} text={text} turn={turn} onWritten={reload} />
      )}
      {isReadable && text === undefined && problem === undefined && <p>Loading…</p>}
      {!isReadable && text === undefined && may.write && <ReplaceUnread signIn={signIn} url={url} />}
    </>
  );
}

interface TreeAndPanelProps extends RootKeyPageProps {
  readonly text: string;
  readonly turn: number;
  readonly onWritten: () => void;
}

function TreeAndPanel({ rootKey, signIn, text, turn, onWritten }: TreeAndPanelProps) {
  const { name, may } = rootKey;
  const [path, setPath] = useState<ValuePath>([]);
  const [isTyped, setTyped] = useState(false);
  /** What was chosen while something typed would be lost. */
  const [wanted, setWanted] = useState<ValuePath>();
  useUnsaved(isTyped);
  const columns = useRef<HTMLDivElement>(null);
  const chosen = pointerOf(path);
  const choose = (next: ValuePath) => {
    if (pointerOf(next) === chosen) return;
    if (isTyped) setWanted(next);
    else setPath(next);
  };
  const written = (action: PanelAction) => {
    if (action === "delete") {
      const parent = path.slice(0, -1);
      setPath(parent);
      // The button that had the focus belongs to what is gone.
      columns.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(pointerOf(parent))}"]`)?.focus();
    }
    onWritten();
  };
  const url = urlOf(name, path);
  return (
    <div class="tree-and-value" ref={columns}>
      <ValueTree name={name} text={text} chosen={chosen} onChoose={choose} />
      <section aria-label="The chosen value" class="value">
        <h2 class="path" tabIndex={-1}>
          <code>{url ?? chosen}</code>
        </h2>
        {url === undefined ? (
          <Unaddressable label={chosen} text={textAt(text, path) ?? ""} />
        ) : (
          <ValuePanel
            key={url}
            signIn={signIn}
            rootKey={name}
            path={path}
            url={url}
            mayWrite={may.write}
            turn={turn}
            onTyped={setTyped}
            onWritten={written}
          />
        )}
      </section>
      {wanted !== undefined && (
        <ConfirmDialog
          title="Discard what you typed?"
          text="It has not been saved."
          action="Discard"
          onCancel={() => setWanted(undefined)}
          onConfirm={() => {
            setWanted(undefined);
            setTyped(false);
            setPath(wanted);
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
