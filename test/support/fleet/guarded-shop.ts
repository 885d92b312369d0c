// A shop whose notes only who is known may read, for tests of credentials: logins and keys as they
// stand in their Secrets, and whether every replica lets them in.

import { firstOf, type Tokens } from "../../operator/edited-shop.ts";
import type { Reply } from "../http/http-client.ts";
import { type Declared, declared, newTenant, type Tenant } from "../kubernetes/declared.ts";
import { eventually, type Patience } from "../time/eventually.ts";
import type { Fleet } from "./fleet.ts";

export interface GuardedShop extends Tenant {
  /** What the Secret says now, as an Authorization header. */
  key(secret?: string): Promise<string>;
  /** What the Secret says now, as text. */
  password(secret?: string): Promise<string>;
  login(username: string, password: string): Promise<Reply>;
  /** Logs in, and answers with both tokens as Authorization headers. */
  session(username: string, password: string): Promise<Session>;
  /** Waits until every replica lets it in. */
  admitted(as: string, patience?: Patience): Promise<void>;
  /** Waits until every replica refuses it. */
  refused(as: string, patience?: Patience): Promise<void>;
  /** Both tokens of a session, by every replica; the session is renewed once by each. */
  goesOn(session: Session): Promise<void>;
  /** Waits until no replica takes either token of the session. */
  ended(session: Session, patience?: Patience): Promise<void>;
  /** Waits for an Event of this reason about the object; answers with its note. */
  reportedOf(kind: string, name: string, reason: string): Promise<string>;
}

export interface Session {
  readonly access: string;
  readonly refresh: string;
}

const seen: Patience = { withinMs: 60_000 };

export async function openGuardedShop(fleet: Fleet, ...children: readonly Declared[]): Promise<GuardedShop> {
  const tenant = await newTenant(fleet);
  await tenant.create(declared("Project", "shop"), declared("ApiResource", "notes", { schema: {} }), ...children);
  await fleet.ready(tenant.namespace);
  return guardedShop(tenant);
}

/** The same for objects that are there, or come later. */
export function guardedShop(tenant: Tenant): GuardedShop {
  const { fleet, namespace } = tenant;
  const at = (path: string): string => `/${namespace}/shop${path}`;
  const login = (username: string, password: string): Promise<Reply> => {
    const as = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    return firstOf(fleet).send(at("/sessions"), { method: "POST", as });
  };
  const answers = (as: string, wanted: number, patience: Patience): Promise<void> =>
    tenant.everywhere("/api/notes", { as }, ({ status, text }) => expectStatus(status, wanted, text), patience);
  return {
    ...tenant,
    key: async (secret = "web-api-key") => `apikey ${await fleet.secret(namespace, secret, "apiKey")}`,
    password: (secret = "ann-password") => fleet.secret(namespace, secret, "password"),
    login,
    async session(username, password) {
      const reply = await eventually(async () => {
        const answer = await login(username, password);
        expectStatus(answer.status, 201, answer.text);
        return answer;
      }, seen);
      const { access_token, refresh_token } = reply.json<Tokens>();
      return { access: `Bearer ${access_token}`, refresh: `Bearer ${refresh_token}` };
    },
    admitted: (as, patience = seen) => answers(as, 200, patience),
    refused: (as, patience = seen) => answers(as, 401, patience),
    async goesOn({ access, refresh }) {
      await answers(access, 200, { withinMs: 0 });
      await tenant.everywhere("/sessions/refresh", { method: "POST", as: refresh }, ({ status, text }) =>
        expectStatus(status, 200, text),
      );
    },
    async ended({ access, refresh }, patience = seen) {
      await answers(access, 401, patience);
      await tenant.everywhere("/sessions/refresh", { method: "POST", as: refresh }, ({ status, text }) =>
        expectStatus(status, 401, text),
      );
    },
    reportedOf: (kind, name, reason) =>
      eventually(async () => {
        const events = await tenant.events(kind, name);
        const event = events.find((each) => each.reason === reason);
        if (event === undefined) throw new Error(`No Event ${reason} among ${JSON.stringify(events)}`);
        return event.note;
      }, seen),
  };
}

function expectStatus(status: number, wanted: number, text: string): void {
  if (status !== wanted) throw new Error(`Answered ${status}, and not ${wanted}: ${text}`);
}
