// Waits, unless it is aborted meanwhile: then these throw the reason of the signal.

export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await unlessAborted(passed, signal).finally(() => clearTimeout(timer));
}

/** For what knows of no signal. */
export async function unlessAborted<T>(waiting: Promise<T>, signal?: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  return await Promise.race([waiting, aborted.promise]).finally(() => signal?.removeEventListener("abort", onAbort));
}
