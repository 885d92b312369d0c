// Passwords and keys that dev mode gives to its own pages: to whom, and how often.

import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOneTimeTokens, type OneTimeTokens } from "../../../../cli/dev/overview/one-time-tokens.ts";
import type { Overview, OverviewOptions } from "../../../../cli/dev/overview/overview.ts";
import { type ManualClock, manualClock } from "../../../support/time/manual-clock.ts";
import { type DevCluster, devCluster } from "./dev-cluster.ts";
import { key, login, overviewOf, overviewStateOf, type Sent, sent, shop } from "./overview-world.ts";

let dev: DevCluster;
let clock: ManualClock;
let tokens: OneTimeTokens;
beforeEach(async () => {
  clock = manualClock();
  tokens = createOneTimeTokens(clock, randomBytes);
  dev = await devCluster();
});
afterEach(() => dev.close());

describe("a password or key for a page of dev mode", () => {
  const ada = "ProjectUser/default/ada";
  const own = { method: "POST", headers: { origin: "http://127.0.0.1:8080" } };

  async function attached(options?: OverviewOptions): Promise<Overview> {
    dev.edit("a.yaml", shop + key + login);
    const { overview, devOperator } = overviewOf(dev, { tokens, options });
    await devOperator.reconcile();
    return overview;
  }

  async function tokenFor(overview: Overview, subject: string): Promise<string> {
    const response = await overview.serve(sent(`/-/overview/token?of=${encodeURIComponent(subject)}`, own));
    expect(response).toMatchObject({ status: 200, secret: true });
    return (JSON.parse(response?.text ?? "") as { readonly token: string }).token;
  }

  async function exchange(overview: Overview, token: string) {
    const headers = { ...own.headers, authorization: `Bearer ${token}` };
    const response = await overview.serve(sent("/-/overview/credential", { ...own, headers }));
    expect(response).toMatchObject({ status: 200, secret: true });
    return JSON.parse(response?.text ?? "") as Readonly<Record<"kind" | "name" | "project" | "secret", string>>;
  }

  it("is given once for each token", async () => {
    const overview = await attached();
    const token = await tokenFor(overview, ada);
    const { secret, ...others } = await exchange(overview, token);
    expect(others).toEqual({ kind: "login", name: "ada", project: "default/shop" });
    expect(secret.length).toBeGreaterThan(8);
    await expect(exchange(overview, token)).rejects.toMatchObject({ code: "invalid_credentials" });
    const robot = await exchange(overview, await tokenFor(overview, "ApiKey/default/robot"));
    expect(robot).toMatchObject({ kind: "API key", name: "robot" });
    expect(robot.secret).not.toBe(secret);
  });

  it("is refused for a token that is too old or made up, and for what is not served", async () => {
    const overview = await attached();
    const absent = await tokenFor(overview, "ProjectUser/default/eve");
    await expect(exchange(overview, absent)).rejects.toMatchObject({ code: "invalid_credentials" });
    const old = await tokenFor(overview, ada);
    // No other token is issued after this, which would drop the old one.
    clock.advance(30_000);
    for (const token of [old, "made-up"]) {
      await expect(exchange(overview, token)).rejects.toMatchObject({ code: "invalid_credentials" });
    }
  });

  it.each<[string, Sent, OverviewOptions]>([
    ["a page of another site", { headers: { origin: "https://evil.example" } }, { host: "127.0.0.1" }],
    ["a page of another port of this machine", { headers: { origin: "http://127.0.0.1:3000" } }, { host: "127.0.0.1" }],
    ["a request that names no origin", { headers: {} }, { host: "127.0.0.1" }],
    [
      "a name that somebody let lead here",
      { host: "rebound.example", headers: { origin: "http://rebound.example" } },
      { host: "127.0.0.1" },
    ],
    [
      "a page that pretends to be a proxy",
      { host: "rebound.example", forwarded: "localhost", headers: { origin: "http://rebound.example" } },
      { host: "127.0.0.1" },
    ],
    ["another machine", { from: "10.1.2.3" }, { host: "0.0.0.0" }],
    [
      "an address of this machine in its network",
      { host: "10.1.2.3:8080", to: "10.1.2.3", headers: { origin: "http://10.1.2.3:8080" } },
      { host: "0.0.0.0" },
    ],
    ...["forwarded", "x-forwarded-for", "x-forwarded-host", "via"].map((name): [string, Sent, OverviewOptions] => [
      `a proxy or tunnel that sends ${name}`,
      { headers: { ...own.headers, [name]: "127.0.0.1" } },
      { host: "127.0.0.1" },
    ]),
    ["everybody where there is a public URL", {}, { host: "127.0.0.1", publicUrl: "https://api.example.org" }],
  ])("is refused to %s", async (_what, request, options) => {
    const overview = await attached(options);
    for (const target of [`token?of=${ada}`, "credential"]) {
      const headers = { ...(request.headers ?? own.headers), authorization: `Bearer ${tokens.issue(ada)}` };
      const asked = sent(`/-/overview/${target}`, { method: "POST", ...request, headers });
      await expect(overview.serve(asked)).rejects.toMatchObject({ code: "insufficient_access" });
    }
  });

  it("is nothing that a GET, or the state, would give", async () => {
    const overview = await attached();
    await expect(overview.serve(sent("/-/overview/credential", { headers: own.headers }))).rejects.toMatchObject({
      code: "unknown_path",
    });
    const { secret } = await exchange(overview, await tokenFor(overview, ada));
    expect(JSON.stringify(await overviewStateOf(dev, overview))).not.toContain(secret);
  });
});
