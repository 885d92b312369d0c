// The store of authentication tests, in memory, and a switch that takes it away.

import type { Clock } from "../../core/clock.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import {
  type CounterStore,
  OutcomeUnknown,
  type SessionRecord,
  type SessionStore,
  StoreUnavailable,
} from "../../dataplane/store/port.ts";

export type SessionsAndCounters = SessionStore & CounterStore;

export function memorySessionStore(clock: Clock): SessionsAndCounters {
  const records = new Map<string, SessionRecord>();
  const spent = new Map<string, { count: number; ends: number }>();
  const ended: [string, number][] = [];
  const followers = new Set<(id: string, expire: number) => void>();
  const key = (p: ProjectRef, id: string) => `${p.namespace}/${p.name}/${id}`;
  const now = () => clock.now() / 1000;
  const get = (p: ProjectRef, id: string) => {
    const r = records.get(key(p, id));
    return r && r.expires > now() ? r : undefined;
  };
  const budget = (name: string, window: number) => {
    const b = spent.get(name);
    if (b && b.ends > now()) return b;
    const fresh = { count: 0, ends: now() + window };
    spent.set(name, fresh);
    return fresh;
  };
  return {
    async putSession(p, s) {
      records.set(key(p, s.id), s);
    },
    session: async (p, id) => get(p, id),
    async touchSession(p, id, lastRefresh) {
      const r = get(p, id);
      if (!r) return false;
      records.set(key(p, id), { ...r, lastRefresh });
      return true;
    },
    async endSession(p, id, expire) {
      if (!get(p, id)) return false;
      records.delete(key(p, id));
      ended.push([id, expire]);
      for (const f of followers) f(id, expire);
      return true;
    },
    async sessions(p, { username, limit }) {
      return [...records]
        .filter(([k, r]) => k.startsWith(key(p, "")) && r.expires > now() && (!username || r.username === username))
        .map(([, r]) => r)
        .reverse()
        .slice(0, limit);
    },
    async followEndedSessions(f) {
      for (const [id, expire] of ended) f(id, expire);
      followers.add(f);
      return { stop: async () => void followers.delete(f) };
    },
    async spend(budgets) {
      const all = budgets.map((b) => ({ b, s: budget(b.name, b.windowSeconds) }));
      const full = all.filter(({ b, s }) => s.count >= b.limit);
      if (full.length > 0) {
        return { outcome: "exhausted", retryAfterSeconds: Math.max(...full.map(({ s }) => s.ends - now())) };
      }
      for (const { s } of all) s.count += 1;
      return { outcome: "spent" };
    },
    async refund(budgets) {
      for (const b of budgets) {
        const s = budget(b.name, b.windowSeconds);
        s.count = Math.max(0, s.count - 1);
      }
    },
  };
}

export type Fault = "none" | "unavailable" | "unknown";

export interface BreakableStore {
  readonly store: SessionsAndCounters;
  /** From now on every call, or only those named, is refused as a store that can't be reached would, before it does anything. */
  breakWith(fault: Fault, ...calls: readonly (keyof SessionsAndCounters)[]): void;
  /** Calls made, by name. */
  readonly calls: ReadonlyMap<string, number>;
}

/** Puts faults and a count of calls in front of a store. */
export function breakable(inner: SessionsAndCounters): BreakableStore {
  let fault: Fault = "none";
  let broken: readonly string[] = [];
  const calls = new Map<string, number>();
  const guard = <A extends readonly unknown[], R>(
    name: keyof SessionsAndCounters,
    call: (...args: A) => Promise<R>,
  ) => {
    return async (...args: A): Promise<R> => {
      calls.set(name, (calls.get(name) ?? 0) + 1);
      if (fault !== "none" && (broken.length === 0 || broken.includes(name))) {
        throw fault === "unavailable"
          ? new StoreUnavailable("The test says so")
          : new OutcomeUnknown("The test says so");
      }
      return await call(...args);
    };
  };
  return {
    calls,
    breakWith(next, ...names) {
      fault = next;
      broken = names;
    },
    store: {
      putSession: guard("putSession", inner.putSession),
      session: guard("session", inner.session),
      touchSession: guard("touchSession", inner.touchSession),
      endSession: guard("endSession", inner.endSession),
      sessions: guard("sessions", inner.sessions),
      followEndedSessions: guard("followEndedSessions", inner.followEndedSessions),
      spend: guard("spend", inner.spend),
      refund: guard("refund", inner.refund),
    },
  };
}
