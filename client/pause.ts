// Waits, unless it is aborted meanwhile: then these throw the reason of the signal.

interface Connection {
  addEventListener(type: "online", listener: () => void): void;
  removeEventListener(type: "online", listener: () => void): void;
}

/** Until the next attempt, or until a browser has found the network again. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  const browser = globalThis as unknown as Partial<Connection>;
  browser.addEventListener?.("online", resolve);
  await unlessAborted(promise, signal).finally(() => {
    clearTimeout(timer);
    browser.removeEventListener?.("online", resolve);
  });
}

/** For what knows of no signal. */
export async function unlessAborted<T>(waiting: Promise<T>, signal?: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  return await Promise.race([waiting, aborted.promise]).finally(() => signal?.removeEventListener("abort", onAbort));
}
