// Sessions while the store answers reads and takes no writes; how one is ended then, sessions.test.ts shows.

import { describe, expect, test } from "vitest";
import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import { authenticationScene, refusalOf } from "../../../support/http/authentication.ts";
import { basic, bearer, project, withUser } from "../../../support/http/projects.ts";
import { breakable, sessionStore } from "../../../support/store/session-store.ts";
import { eventually } from "../../../support/time/eventually.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const bookshop = project("bookshop", withUser("alice"));

async function scene() {
  const clock = manualClock();
  const store = breakable(await sessionStore(clock));
  const made = await authenticationScene({ store: store.store, projects: [bookshop], clock });
  return {
    ...made,
    store,
    login: () => made.authentication.login(made.live(), basic("alice"), "192.0.2.7"),
    refresh: (token: string) => made.authentication.refresh(made.live(), bearer(token)),
  };
}

describe("a refresh while the store takes no writes", () => {
  const hour = 3_600_000;

  test("reads that the session stands, and notes the refresh once it does", async () => {
    const { login, refresh, authentication, live, clock, store } = await scene();
    const opened = await login();
    clock.advance(60_000);
    store.breakWith("refused", "touchSession");
    const { access_token } = await refresh(opened.refresh_token);
    const caller = await authentication.authenticate(live(), bearer(access_token));
    const seen = () => authentication.session(live(), caller, opened.session_id);
    const { created, last_refresh } = await seen();
    expect(last_refresh).toBe(created);
    store.breakWith("none");
    await eventually(async () => expect((await seen()).last_refresh).toBe(created + 60));
  });

  test("refuses that of a session that is gone", async () => {
    const { login, refresh, live, store } = await scene();
    const opened = await login();
    await store.store.purgeSessions(live().config, live().config.uid, "");
    store.breakWith("refused", "touchSession");
    expect((await refusalOf(() => refresh(opened.refresh_token))).code).toBe("invalid_credentials");
  });

  test("goes on for an hour and no longer, and anew once writes were taken", async () => {
    const { login, refresh, clock, store } = await scene();
    const { refresh_token } = await login();
    store.breakWith("refused", "touchSession");
    await refresh(refresh_token);
    clock.advance(hour);
    await refresh(refresh_token);
    clock.advance(1);
    await expect(refresh(refresh_token)).rejects.toThrow(StoreUnavailable);
    store.breakWith("none");
    const touched = store.calls.get("touchSession") ?? 0;
    await eventually(() => expect(store.calls.get("touchSession")).toBeGreaterThan(touched));
    store.breakWith("refused", "touchSession");
    await eventually(() => refresh(refresh_token));
  });

  test("passes on that the session can't be read either", async () => {
    const { login, refresh, store } = await scene();
    const { refresh_token } = await login();
    store.breakWith("refused", "touchSession", "session");
    await expect(refresh(refresh_token)).rejects.toThrow(StoreUnavailable);
  });
});
