// What the panel of a value knows and does: the value as it was read, what was typed since, and the requests that change it. A value that
// somebody else has changed meanwhile is a conflict, which is settled by a person and loses nothing that was typed.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem, SignIn } from "../../sign-in/sign-in.ts";
import { prettyJson } from "../editor/pretty.ts";
import { type Answer, type Refusal, sendValue } from "./stored-value.ts";

export interface StoredText {
  /** As the editor shows it. */
  readonly text: string;
  readonly tag: string | undefined;
}

export interface Conflict {
  readonly action: "save" | "delete";
  /** What is stored now; undefined: nothing. */
  readonly tag: string | undefined;
}

export interface ValueState {
  /** Undefined until it has been read. */
  readonly stored?: StoredText | undefined;
  /** Why it could not be read. */
  readonly refused?: Problem | undefined;
  readonly typed: string;
  /** Why the last write was refused. */
  readonly problem?: Problem | undefined;
  readonly conflict?: Conflict | undefined;
  readonly message: string;
  readonly isBusy: boolean;
}

export interface StoredValue extends ValueState {
  readonly isTyped: boolean;
  readonly type: (text: string) => void;
  /** Gives up what was typed. */
  readonly discard: () => void;
  /** Reads everything anew, and gives up what was typed. */
  readonly reload: () => void;
  /** `ifMatch` is what the person has seen: the tag read, or that of a conflict. */
  readonly save: (ifMatch: string | undefined) => Promise<void>;
  readonly remove: (ifMatch: string | undefined) => Promise<void>;
}

export interface StoredValueOptions {
  readonly signIn: SignIn;
  readonly url: string;
  /** Changes when the value is to be read anew; it is not while something is typed. */
  readonly turn: number;
  readonly onWritten: (action: "save" | "delete" | "reload") => void;
}

const unread: ValueState = { typed: "", message: "", isBusy: false };

export function useStoredValue({ signIn, url, turn, onWritten }: StoredValueOptions): StoredValue {
  const [state, setState] = useState(unread);
  const change = (part: Partial<ValueState>) => setState((before) => ({ ...before, ...part }));
  const isTyped = state.stored !== undefined && state.typed !== state.stored.text;
  const isMounted = useRef(true);
  useEffect(
    () => () => {
      isMounted.current = false;
    },
    [],
  );

  const load = async (message: string) => {
    const answer = await sendValue(signIn, { url, method: "GET" });
    if (isMounted.current) change(readState(answer, message));
  };
  useEffect(() => {
    if (!isTyped) void load(state.message);
  }, [turn]);

  const write = async (action: "save" | "delete", ifMatch: string | undefined) => {
    change({ isBusy: true, problem: undefined, message: "" });
    const request =
      action === "save" ? ({ method: "PUT", body: state.typed } as const) : ({ method: "DELETE" } as const);
    const answer = await sendValue(signIn, { url, ifMatch, ...request });
    change({ isBusy: false, ...(answer.ok ? writtenState(action, answer) : refusedState(action, answer)) });
    if (answer.ok) onWritten(action);
  };
  const unchanged = { typed: state.stored?.text ?? "", problem: undefined, conflict: undefined };
  return {
    ...state,
    isTyped,
    type: (typed) => change({ typed, message: "" }),
    discard: () => change({ ...unchanged, message: "" }),
    reload: () => {
      change({ ...unchanged, message: "The stored value is shown." });
      onWritten("reload");
    },
    save: (ifMatch) => write("save", ifMatch),
    remove: (ifMatch) => write("delete", ifMatch),
  };
}

function readState(answer: Answer | Refusal, message: string): Partial<ValueState> {
  const settled = { problem: undefined, conflict: undefined, message };
  if (!answer.ok) return { ...settled, refused: answer.problem };
  const text = prettyJson(answer.text);
  return { ...settled, refused: undefined, stored: { text, tag: answer.tag }, typed: text };
}

function writtenState(action: "save" | "delete", answer: Answer): Partial<ValueState> {
  return action === "save" ? readState(answer, "Saved.") : { conflict: undefined };
}

function refusedState(action: "save" | "delete", { problem, tag }: Refusal): Partial<ValueState> {
  if (problem.status === 412) return { conflict: { action, tag } };
  return { problem, conflict: undefined };
}
