// A KubeApi whose writes need the Lease: each asks first, and those under way are cut when
// leadership ends. Readings pass.

import type { CallOptions, KubeApi } from "../kube/api.ts";
import { joinSignals } from "../kube/signals.ts";
import { type Leadership, NotTheLeader } from "./elector.ts";

export function fencedApi(api: KubeApi, leadership: Leadership): KubeApi {
  async function fenced<O extends CallOptions, T>(
    options: O | undefined,
    write: (options: O) => Promise<T>,
  ): Promise<T> {
    options?.signal?.throwIfAborted();
    if (!leadership.held() || leadership.ended.aborted) throw new NotTheLeader("a write was refused: not the leader");
    const { ended } = leadership;
    const both = joinSignals([options?.signal, ended]);
    try {
      return await write({ ...options, signal: both.signal } as O);
    } catch (error) {
      // It may have happened: the connection was cut while it was on its way.
      if (ended.aborted && !options?.signal?.aborted) {
        throw new NotTheLeader("a write was given up: leadership ended", { cause: error });
      }
      throw error;
    } finally {
      both.end();
    }
  }
  return {
    list: (type, request, options) => api.list(type, request, options),
    watch: (type, request, options) => api.watch(type, request, options),
    getDocument: (path, options) => api.getDocument(path, options),
    get: (type, name, options) => api.get(type, name, options),
    create: (type, object, options) => fenced(options, (signalled) => api.create(type, object, signalled)),
    replace: (type, object, options) => fenced(options, (signalled) => api.replace(type, object, signalled)),
    apply: (type, object, options) => fenced(options, (signalled) => api.apply(type, object, signalled)),
    remove: (type, name, preconditions, options) =>
      fenced(options, (signalled) => api.remove(type, name, preconditions, signalled)),
    close: () => api.close(),
  };
}
