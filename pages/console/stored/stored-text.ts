// Stored JSON and the draft that a person makes of it: what was read, what was entered since, and
// the requests between the two. An answer to an earlier request never replaces a draft, and nothing
// overwrites what somebody else has stored meanwhile: that is a conflict, which the person resolves
// about exactly the version that was read when it was found. A save over it makes the person's own
// changes to that version. What changes meanwhile is shown, or is a conflict with the draft.

import { isRetryable } from "../../../core/http/event-stream.ts";
import type { Problem } from "../../sign-in/problem.ts";
import { prettyJson } from "../editor/pretty.ts";
import type { ReadResult } from "../live/follow-changes.ts";
import { mergeMine } from "./differences.ts";
import type { Answer, ConditionalRequest } from "./send-conditionally.ts";

/** A version as it was read. */
export interface Stored {
  /** What the server sent. */
  readonly body: string;
  /** What a person edits of it. */
  readonly text: string;
  readonly etag: string | undefined;
  /** From where its changes can be followed. */
  readonly position?: string | undefined;
}

type Read = { readonly ok: true; readonly stored: Stored } | { readonly ok: false; readonly problem: Problem };

/** A proxy may answer in place of the service, and with success. */
const foreign: Problem = { status: 0, title: "The answer did not come from this API" };

/** Without a tag, a write would replace whatever is stored. */
const untagged: Problem = {
  status: 0,
  title: "Nothing was written, because the stored version came without an ETag",
};

export type WriteAction = "save" | "delete";

export interface Conflict {
  /** What was refused; undefined: nothing was sent, and the draft is in conflict already. */
  readonly action: WriteAction | undefined;
  /** What somebody else has stored; undefined: it is deleted. */
  readonly current: Stored | undefined;
  /** `current` may be another value in the draft's old place: read-only. */
  readonly hasMoved: boolean;
}

export interface StoredTextState {
  /** Undefined until it has been read. */
  readonly stored?: Stored | undefined;
  readonly draft: string;
  /** Why it could not be read the last time. */
  readonly loadProblem?: Problem | undefined;
  /** Why the last write was refused. */
  readonly writeProblem?: Problem | undefined;
  readonly conflict?: Conflict | undefined;
  /** The write that is under way. */
  readonly writing?: WriteAction | undefined;
  /** What the last write or reload did. */
  readonly message: string;
}

export interface StoredTextOptions {
  readonly send: (request: ConditionalRequest) => Promise<Answer>;
  readonly url: string;
  /** What a person edits of what the server sent. */
  readonly editable: (body: string) => string;
  /** The request that stores the draft in place of what is stored; undefined: nothing is. */
  readonly writeOf: (
    draft: string,
    stored: Stored | undefined,
  ) => Pick<ConditionalRequest, "method" | "body" | "contentType">;
  /** Whether the version `seen` may have moved; absent where values have one place. */
  readonly hasMoved?: (seen: Stored) => Promise<boolean>;
  readonly onChange: (state: StoredTextState) => void;
}

export class StoredText {
  readonly #options: StoredTextOptions;
  #state: StoredTextState = { draft: "", message: "" };
  /** Number of the newest request: an answer to an older one is out of date. */
  #newest = 0;

  constructor(options: StoredTextOptions) {
    this.#options = options;
  }

  get state(): StoredTextState {
    return this.#state;
  }

  /** True while the draft differs from what was read. */
  get isDirty(): boolean {
    return this.#state.stored !== undefined && this.#state.draft !== this.#state.stored.text;
  }

  edit(draft: string): void {
    this.#change({ draft, message: "" });
  }

  discard(): void {
    const { stored, conflict } = this.#state;
    // What was found while nothing was sent is stored by now.
    const found = conflict?.action === undefined ? conflict : undefined;
    const shown = found?.current ?? stored;
    this.#change({
      stored: shown,
      draft: shown?.text ?? "",
      writeProblem: undefined,
      conflict: found?.current === undefined ? found : undefined,
      message: "",
    });
  }

  /**
   * Reads it, or reads it again, because somebody may have changed it. Undefined where a write is
   * under way, or the server can't answer now.
   */
  async load(): Promise<ReadResult | undefined> {
    if (this.#state.writing !== undefined) return undefined;
    const number = this.#begin();
    const read = await this.#read();
    if (number !== this.#newest) return undefined;
    const { stored } = this.#state;
    if (!read.ok && (read.problem.status !== 404 || stored === undefined)) {
      this.#change({ loadProblem: read.problem });
      return mayRetry(read.problem) ? undefined : { position: undefined };
    }
    this.#change({ loadProblem: undefined });
    const current = read.ok ? read.stored : undefined;
    const hasMoved = stored !== undefined && this.isDirty && (await this.#options.hasMoved?.(stored)) === true;
    if (number !== this.#newest) return undefined;
    this.#compare(current, hasMoved);
    return { position: current?.position };
  }

  /** True once the draft is stored. `over` = the version that it replaces; undefined: nothing. */
  save(over: Stored | undefined): Promise<boolean> {
    if (this.#state.writing === undefined && over !== undefined && over === this.#state.conflict?.current) {
      this.#moveDraftTo(over);
    }
    return this.#write("save", over);
  }

  /** True once nothing is stored. */
  remove(over: Stored | undefined): Promise<boolean> {
    return this.#write("delete", over);
  }

  /** Shows what somebody else has stored, in place of the draft. */
  takeTheirs(): void {
    const { current } = this.#state.conflict ?? {};
    if (current === undefined) return;
    this.#show(current);
    this.#change({ message: "This is what is stored." });
  }

  /** The draft stays, with what only they have changed; a save replaces the rest of theirs. */
  keepMine(): void {
    const { current } = this.#state.conflict ?? {};
    if (current !== undefined) this.#moveDraftTo(current);
    this.#change({ conflict: undefined });
  }

  #compare(current: Stored | undefined, hasMoved: boolean): void {
    const { stored, conflict } = this.#state;
    // The person decides about the version that was found when a write was refused.
    if (conflict !== undefined && conflict.action !== undefined) return;
    if (current !== undefined && current.body === stored?.body) {
      this.#change({ stored: current, conflict: undefined });
    } else if (current !== undefined && !this.isDirty) {
      this.#show(current);
      if (stored !== undefined) this.#change({ message: "Somebody else changed this. You see what is stored now." });
    } else {
      this.#change({ conflict: { action: undefined, current, hasMoved } });
    }
  }

  /** What somebody else has changed alone becomes part of the draft. */
  #moveDraftTo(current: Stored): void {
    const { stored, draft } = this.#state;
    const merged = mergeMine({ before: stored?.text ?? "", theirs: current.text, mine: draft });
    // What isn't JSON is refused, and stays a draft of what it was made of.
    if (merged !== undefined) this.#change({ stored: current, draft: prettyJson(merged) });
  }

  async #write(action: WriteAction, over: Stored | undefined): Promise<boolean> {
    if (this.#state.writing !== undefined) return false;
    if (over !== undefined && over.etag === undefined) return this.#settle({ writeProblem: untagged });
    const { draft } = this.#state;
    this.#begin();
    this.#change({ writing: action, writeProblem: undefined, message: "" });
    const request = this.#requestOf(action, draft, over);
    if (action === "save") {
      const answer = this.#readFrom(await this.#options.send(request));
      if (!answer.ok) return await this.#refused(action, over, answer.problem);
      this.#saved(draft, answer.stored);
    } else {
      const answer = await this.#options.send(request);
      if (!answer.ok) return await this.#refused(action, over, answer.problem);
      this.#change({ writing: undefined, conflict: undefined });
    }
    return true;
  }

  #requestOf(action: WriteAction, draft: string, over: Stored | undefined): ConditionalRequest {
    const { url, writeOf } = this.#options;
    const request = action === "save" ? writeOf(draft, over) : ({ method: "DELETE" } as const);
    return { url, ...request, condition: over?.etag === undefined ? "nothing stored" : { etag: over.etag } };
  }

  #saved(sent: string, stored: Stored): void {
    const isLatest = this.#state.draft === sent;
    const settled = { writing: undefined, conflict: undefined, loadProblem: undefined };
    this.#change({ ...settled, stored, ...(isLatest && { draft: stored.text, message: "Saved." }) });
  }

  /** Read once, so that the person decides about one version. True: nothing left to delete. */
  async #refused(action: WriteAction, over: Stored | undefined, problem: Problem): Promise<boolean> {
    const isGone = problem.status === 404 && over !== undefined;
    if (problem.status !== 412 && !isGone) return this.#settle({ writeProblem: problem, conflict: undefined });
    const read = await this.#read();
    if (!read.ok && read.problem.status !== 404) return this.#settle({ writeProblem: read.problem });
    const current = read.ok ? read.stored : undefined;
    const hasMoved = over !== undefined && (await this.#options.hasMoved?.(over)) === true;
    if (action === "delete" && current === undefined && !hasMoved) return !this.#settle({ conflict: undefined });
    return this.#settle({ conflict: { action, current, hasMoved } });
  }

  /** The write has changed nothing. */
  #settle(part: Partial<StoredTextState>): false {
    this.#change({ writing: undefined, ...part });
    return false;
  }

  #begin(): number {
    this.#newest += 1;
    return this.#newest;
  }

  async #read(): Promise<Read> {
    return this.#readFrom(await this.#options.send({ url: this.#options.url, method: "GET" }));
  }

  #readFrom(answer: Answer): Read {
    if (!answer.ok) return answer;
    const { text: body, etag, position } = answer;
    try {
      return { ok: true, stored: { body, text: this.#options.editable(body), etag, position } };
    } catch {
      return { ok: false, problem: foreign };
    }
  }

  #show(stored: Stored): void {
    this.#change({ stored, draft: stored.text, writeProblem: undefined, conflict: undefined });
  }

  #change(part: Partial<StoredTextState>): void {
    this.#state = { ...this.#state, ...part };
    this.#options.onChange(this.#state);
  }
}

/** Whether the same request may succeed later. Status 0: the server couldn't be reached. */
export function mayRetry({ status }: Problem): boolean {
  return status === 0 || isRetryable(status);
}
