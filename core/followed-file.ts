// A file's current content: read again when it may have changed, which a mounted Secret does by
// swapping a link. If it can't be read or used, that is reported without the content, and the last
// content stays.

export interface Followed<T> {
  current(): T;
  /** Reads the file again, unless it was read less than a second ago. Never rejects. */
  reread(): Promise<void>;
  /** `listener` is called after the content has changed. */
  onChange(listener: () => void): void;
  stop(): void;
}

export interface FollowedFileDeps<T> {
  readonly read: () => Promise<string>;
  /** Throws what it can't use; the error's message holds nothing of the text. */
  readonly parse: (text: string) => T;
  /**
   * What counts until a reading gives something to use, which is then no change; absent = the first
   * reading has to.
   */
  readonly initial?: T;
  /** Called once for every new way in which the file can't be used. */
  readonly onRefused: (error: unknown) => void;
  readonly onChanged?: (content: T) => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** How often the file is read, `filePollMilliseconds` by default. */
  readonly pollMs?: number;
}

const filePollMilliseconds = 5_000;
const minReadIntervalMs = 1_000;

/**
 * Rejects when the first reading gives nothing to use, as `read` or `parse` does, unless `initial`
 * counts until then.
 */
export async function followFile<T>(deps: FollowedFileDeps<T>): Promise<Followed<T>> {
  const now = deps.now ?? (() => performance.now());
  const listeners: (() => void)[] = [];
  let text = deps.initial === undefined ? await deps.read() : undefined;
  let content = deps.initial ?? deps.parse(text ?? "");
  let readAt = text === undefined ? Number.NEGATIVE_INFINITY : now();
  let reading: Promise<void> | undefined;
  let refusal: string | undefined;

  /** True when it is another one than before. */
  const take = (found: string): boolean => {
    const same = found === text;
    if (!same) content = deps.parse(found);
    text = found;
    refusal = undefined;
    return !same;
  };
  const refuse = (error: unknown): boolean => {
    const message = error instanceof Error ? error.message : "unknown";
    if (message !== refusal) deps.onRefused(error);
    refusal = message;
    return false;
  };
  const readAgain = async (): Promise<void> => {
    readAt = now();
    const isFirst = text === undefined;
    const changed = await deps.read().then(take).catch(refuse);
    if (!changed) return;
    if (!isFirst) deps.onChanged?.(content);
    for (const listener of listeners) listener();
  };

  const reread = (): Promise<void> => {
    if (reading === undefined && now() - readAt < minReadIntervalMs) return Promise.resolve();
    reading ??= readAgain().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  if (text === undefined) void reread();
  const timer = setInterval(reread, deps.pollMs ?? filePollMilliseconds).unref();

  return {
    current: () => content,
    reread,
    onChange: (listener) => void listeners.push(listener),
    stop: () => clearInterval(timer),
  };
}
