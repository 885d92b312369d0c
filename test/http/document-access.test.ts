// Who may do what inside a root key's value: four settings for each of four operations, for every
// kind of caller.

import { expect, it } from "vitest";
import type { Operation, Permission } from "../../core/config/types.ts";
import {
  apikey,
  basic,
  bearer,
  project,
  withAuthenticationDisabled,
  withKey,
  withLimits,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const value = '{"a":1,"list":[1]}';
const callers = project(
  "shop",
  withKey("reader", { access: "Read" }),
  withKey("writer"),
  withKey("admin-reader", { role: "Administrators", access: "Read" }),
  withKey("admin", { role: "Administrators" }),
  withUser("alice"),
  withUser("root", { role: "Administrators" }),
);

const everyone = ["anonymous", "reader", "writer", "admin-reader", "admin", "alice", "root"] as const;
type Who = (typeof everyone)[number];

async function credentials(served: Served): Promise<Readonly<Record<Who, string | undefined>>> {
  const session = async (user: string) => {
    const login = await served.send("/sessions", { method: "POST", as: basic(user) });
    return bearer(login.json<{ access_token: string }>().access_token);
  };
  return {
    anonymous: undefined,
    reader: apikey("reader"),
    writer: apikey("writer"),
    "admin-reader": apikey("admin-reader"),
    admin: apikey("admin"),
    alice: await session("alice"),
    root: await session("root"),
  };
}

/** One request of each operation that succeeds with `value` stored, and puts it back as it was. */
const requests: Readonly<
  Record<Operation, { readonly method: string; readonly path: string; readonly body?: string }>
> = {
  create: { method: "POST", path: "/list/-", body: "2" },
  read: { method: "GET", path: "/a" },
  update: { method: "PUT", path: "/a", body: "1" },
  delete: { method: "DELETE", path: "/list/0" },
};
const success: Readonly<Record<Operation, number>> = { create: 201, read: 200, update: 200, delete: 200 };
const operations = ["create", "read", "update", "delete"] as const;

const open = { create: "Anyone", read: "Anyone", update: "Anyone", delete: "Anyone" } as const;

/** Outcome per caller: what `ok` stands for depends on the operation. */
type Outcomes = Readonly<Record<Who, "ok" | 401 | 403>>;
const all = (outcome: Outcomes[Who]): Outcomes => Object.fromEntries(everyone.map((who) => [who, outcome])) as Outcomes;
const only = (otherwise: Outcomes, allowed: readonly Who[]): Outcomes => ({
  ...otherwise,
  ...Object.fromEntries(allowed.map((who) => [who, "ok" as const])),
});
const known: Outcomes = { ...all(403), anonymous: 401 };

const reads: Readonly<Record<Permission, Outcomes>> = {
  Anyone: all("ok"),
  Authenticated: only(known, ["reader", "writer", "admin-reader", "admin", "alice", "root"]),
  Administrators: only(known, ["admin-reader", "admin", "root"]),
  Nobody: all(403),
};
const writes: Readonly<Record<Permission, Outcomes>> = {
  Anyone: all("ok"),
  Authenticated: only(known, ["writer", "admin", "alice", "root"]),
  Administrators: only(known, ["admin", "root"]),
  Nobody: all(403),
};

const table = operations.flatMap((operation) =>
  (["Anyone", "Authenticated", "Administrators", "Nobody"] as const).map(
    (permission) => [operation, permission, (operation === "read" ? reads : writes)[permission]] as const,
  ),
);

const wanted = (outcome: Outcomes[Who], operation: Operation) => {
  if (outcome === "ok") return [success[operation], undefined];
  return outcome === 401 ? [401, "authentication_required"] : [403, "insufficient_access"];
};

describeServed("access to a root key", (serve) => {
  it.each(table)("%s: %s lets in exactly those whom it names", async (operation, permission, outcomes) => {
    const doc = withRootKey("doc", { initialValue: value, access: { ...open, [operation]: permission } });
    const served = await serve([{ ...callers, rootKeys: doc(callers).rootKeys }]);
    const sends = await credentials(served);
    for (const who of everyone) {
      await served.send("/json/doc", { method: "PUT", body: value, as: apikey("admin") });
      const { method, path, body } = requests[operation];
      const as = sends[who];
      const reply = await served.send(`/json/doc${path}`, { method, body, ...(as && { as }) });
      expect([who, reply.status, reply.code]).toEqual([who, ...wanted(outcomes[who], operation)]);
    }
  });

  it("is by default open to read for anyone, and needs authentication to create, update and delete", async () => {
    const served = await serve([
      { ...callers, rootKeys: withRootKey("doc", { initialValue: value })(callers).rootKeys },
    ]);
    for (const operation of operations) {
      const { method, path, body } = requests[operation];
      const anonymous = await served.send(`/json/doc${path}`, { method, body });
      expect([operation, anonymous.status]).toEqual([operation, operation === "read" ? 200 : 401]);
      const writer = await served.send(`/json/doc${path}`, { method, body, as: apikey("writer") });
      expect([operation, writer.status]).toEqual([operation, success[operation]]);
    }
  });

  it("can be changed per root key, and works at once", async () => {
    const doc = (read: Permission) => withRootKey("doc", { initialValue: value, access: { read } });
    const served = await serve(project("p", doc("Anyone"), withRootKey("other")));
    expect((await served.send("/json/doc/a")).status).toBe(200);
    served.change(doc("Nobody"));
    expect((await served.send("/json/doc/a")).code).toBe("insufficient_access");
    expect((await served.send("/json/other")).status).toBe(200);
  });

  it("is judged before it shows whether anything is there", async () => {
    const closed = withRootKey("doc", {
      initialValue: value,
      access: { read: "Administrators", delete: "Administrators" },
    });
    const served = await serve([{ ...callers, rootKeys: closed(callers).rootKeys }]);
    for (const path of ["/a", "/missing", "/list/7", "/a/below"]) {
      expect((await served.send(`/json/doc${path}`)).code).toBe("authentication_required");
      for (const method of ["GET", "DELETE"]) {
        const reply = await served.send(`/json/doc${path}`, { method, as: apikey("writer") });
        expect([path, method, reply.code]).toEqual([path, method, "insufficient_access"]);
      }
    }
  });

  it("has no owners: what one caller added, another with the access changes and removes", async () => {
    const served = await serve([{ ...callers, rootKeys: withRootKey("doc")(callers).rootKeys }]);
    const sends = await credentials(served);
    await served.send("/json/doc/mine", { method: "POST", body: "1", ...(sends.alice && { as: sends.alice }) });
    expect((await served.send("/json/doc/mine", { method: "PUT", body: "2", as: apikey("writer") })).status).toBe(200);
    expect((await served.send("/json/doc/mine", { method: "DELETE", as: apikey("writer") })).status).toBe(200);
  });
});

describeServed("a PUT that adds a key", (serve) => {
  const put = (served: Served, path: string, as?: string) =>
    served.send(`/json/doc${path}`, { method: "PUT", body: "9", ...(as && { as }) });

  it.each([
    ["Administrators", "writer", "insufficient_access"],
    ["Administrators", "anonymous", "authentication_required"],
    ["Authenticated", "reader", "insufficient_access"],
    ["Authenticated", "anonymous", "authentication_required"],
    ["Nobody", "admin", "insufficient_access"],
  ] as const)("needs create as well: %s refuses %s with %s, who may replace", async (create, who, code) => {
    const access = { create, update: "Anyone" } as const;
    const doc = withRootKey("doc", { initialValue: '{"a":1,"o\'\\"":{}}', access });
    const served = await serve([{ ...callers, rootKeys: doc(callers).rootKeys }]);
    const as = who === "anonymous" ? undefined : apikey(who);
    expect((await put(served, "/a", as)).status).toBe(200);
    for (const path of ["/new", "/o%27%22/new"]) expect((await put(served, path, as)).code).toBe(code);
    expect((await put(served, "", as)).status).toBe(200);
    expect((await served.send("/json/doc")).text).toBe("9");
  });

  it("needs update as well: create alone adds by POST only", async () => {
    const doc = withRootKey("doc", { access: { create: "Anyone", update: "Nobody" } });
    const served = await serve([{ ...callers, rootKeys: doc(callers).rootKeys }]);
    expect((await put(served, "/new")).code).toBe("insufficient_access");
    expect((await served.send("/json/doc/new", { method: "POST", body: "9" })).status).toBe(201);
  });

  it("does not add while another request removes the key in between, create being refused", async () => {
    const access = { create: "Nobody", update: "Anyone", delete: "Anyone" } as const;
    const served = await serve(project("p", withRootKey("doc", { initialValue: '{"a":0}', access })));
    const racing = Array.from({ length: 40 }, (_, n) =>
      n === 20 ? served.send("/json/doc/a", { method: "DELETE" }) : put(served, "/a"),
    );
    const replies = await Promise.all(racing);
    expect(replies.filter(({ status }) => status === 201)).toEqual([]);
    expect((await served.send("/json/doc")).text).toBe("{}");
  });
});

describeServed("an array that a caller may write to and not read", (serve) => {
  const inbox = withRootKey("inbox", {
    initialValue: "[1,2,3,4,5,6,7]",
    access: { create: "Anyone", read: "Administrators", update: "Anyone" },
  });

  it.each([
    ["POST", 409, "index_out_of_range"],
    ["PUT", 404, "index_not_found"],
  ])("does not tell its length to who may not read it: %s past the end", async (method, status, code) => {
    const served = await serve(project("p", withKey("admin", { role: "Administrators" }), withKey("writer"), inbox));
    for (const as of [undefined, apikey("writer"), apikey("admin")]) {
      const reply = await served.send("/json/inbox/9", { method, body: 1, ...(as !== undefined && { as }) });
      expect([reply.status, reply.code]).toEqual([status, code]);
      const showsValue = String(reply.json().detail).includes("7");
      expect([as, showsValue]).toEqual([as, as === apikey("admin")]);
    }
  });
});

describeServed("with the project's authentication policy disabled", (serve) => {
  const free = project("free", withAuthenticationDisabled(), withKey("reader", { access: "Read" }));

  it("anyone may do everything by default, without a header", async () => {
    const served = await serve([{ ...free, rootKeys: withRootKey("doc", { initialValue: value })(free).rootKeys }]);
    for (const operation of operations) {
      const { method, path, body } = requests[operation];
      expect([operation, (await served.send(`/json/doc${path}`, { method, body })).status]).toEqual([
        operation,
        success[operation],
      ]);
    }
  });

  it.each(["Authenticated", "Administrators", "Nobody"] as const)(
    "%s means Anyone, unless it is Nobody",
    async (permission) => {
      const access = { create: permission, read: permission, update: permission, delete: permission };
      const doc = withRootKey("doc", { initialValue: value, access });
      const served = await serve([{ ...free, rootKeys: doc(free).rootKeys }]);
      for (const operation of operations) {
        const { method, path, body } = requests[operation];
        for (const as of [undefined, apikey("reader")]) {
          const reply = await served.send(`/json/doc${path}`, { method, body, ...(as && { as }) });
          expect([operation, reply.status]).toEqual([operation, permission === "Nobody" ? 403 : success[operation]]);
          await served.send("/json/doc/list/-", { method: "POST", body: "1" });
        }
      }
    },
  );

  it("a bad key or token is still 401, another scheme is ignored", async () => {
    const served = await serve([{ ...free, rootKeys: withRootKey("doc")(free).rootKeys }]);
    for (const as of ["apikey wrong", "bearer wrong", "apikey", "Bearer"]) {
      expect([as, (await served.send("/json/doc", { as })).code]).toEqual([as, "invalid_credentials"]);
    }
    expect((await served.send("/json/doc", { as: basic("proxy", "secret") })).status).toBe(200);
  });
});

describeServed("anonymous writes", (serve) => {
  const open = { create: "Anyone", update: "Anyone", delete: "Anyone" } as const;

  it("are 429 with Retry-After beyond the limit per address and minute; reads and callers with a key go on", async () => {
    const doc = withRootKey("doc", { access: open });
    const served = await serve(project("p", withKey("writer"), withLimits({ anonymousWritesPerMinute: 3 }), doc));
    const write = (as?: string) => served.send("/json/doc/k", { method: "PUT", body: "1", ...(as && { as }) });
    const statuses = [await write(), await write(), await write(), await write()].map(({ status }) => status);
    expect(statuses).toEqual([201, 200, 200, 429]);
    const refused = await write();
    expect([refused.code, Number(refused.headers["retry-after"]) > 0]).toEqual(["write_throttled", true]);
    expect((await served.send("/json/doc/k")).status).toBe(200);
    expect((await write(apikey("writer"))).status).toBe(200);
  });

  it("have no limit where the policy is disabled", async () => {
    const limits = withLimits({ anonymousWritesPerMinute: 1 });
    const served = await serve(
      project("p", withAuthenticationDisabled(), limits, withRootKey("doc", { access: open })),
    );
    for (const status of [201, 200, 200]) {
      expect((await served.send("/json/doc/k", { method: "PUT", body: "1" })).status).toBe(status);
    }
  });

  it("that are refused for another reason do not count", async () => {
    const limits = withLimits({ anonymousWritesPerMinute: 1 });
    const served = await serve(project("p", limits, withRootKey("doc", { access: { ...open, delete: "Nobody" } })));
    for (const path of ["/json/doc/k", "/json/none/k"]) await served.send(path, { method: "DELETE" });
    expect((await served.send("/json/doc/k", { method: "PUT", body: "1" })).status).toBe(201);
  });
});

describeServed("the order of refusals", (serve) => {
  const locked = project("p", withKey("reader", { access: "Read" }), withRootKey("doc"));
  const bad = { method: "PUT", body: "not JSON", headers: { "content-type": "image/png" } } as const;

  it("is route, then method, then caller, then access, then body", async () => {
    const served = await serve(locked);
    const wrong = "apikey wrong";
    expect((await served.send("/json/none/a", { ...bad, as: wrong })).code).toBe("unknown_root_key");
    expect((await served.send("/json/doc/%zz", { ...bad, as: wrong })).code).toBe("invalid_path");
    expect((await served.send("/json/doc", { ...bad, method: "DELETE", as: wrong })).code).toBe("method_not_allowed");
    expect((await served.send("/json/doc/a", { ...bad, as: wrong })).code).toBe("invalid_credentials");
    expect((await served.send("/json/doc/a", bad)).code).toBe("authentication_required");
    expect((await served.send("/json/doc/a", { ...bad, as: apikey("reader") })).code).toBe("insufficient_access");
  });
});
