// The Prometheus metrics on the admin port: what is counted, that the text can be read, and that no
// request makes new series.

import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { send } from "../support/http/http-client.ts";
import {
  apikey,
  basic,
  project,
  withKey,
  withLimits,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { openRaw, sendRaw } from "../support/http/raw-http.ts";
import { describeServed, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";

const writer = apikey("writer");
const shop = project(
  "shop",
  withKey("writer"),
  withUser("alice"),
  withRootKey("doc", { initialValue: '{"a":1}' }),
  withResource("things"),
);

interface Sample {
  /** Name with labels, as Prometheus would tell series apart. */
  readonly series: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Scrape {
  readonly samples: readonly Sample[];
  /** By metric. */
  readonly types: ReadonlyMap<string, string>;
  readonly help: ReadonlyMap<string, string>;
}

/** Reads the text exposition format 0.0.4 strictly; throws on a line that is none of it. */
function parse(text: string): Scrape {
  const samples: Sample[] = [];
  const types = new Map<string, string>();
  const help = new Map<string, string>();
  expect(text.endsWith("\n")).toBe(true);
  for (const line of text.split("\n").filter((each) => each !== "")) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line);
    if (comment) {
      const [, kind, name = "", rest = ""] = comment;
      const into = kind === "HELP" ? help : types;
      expect(into.has(name)).toBe(false);
      into.set(name, rest);
      continue;
    }
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)$/.exec(line);
    if (!sample) throw new Error(`Not a sample: ${line}`);
    const [, name = "", labelText = "", value = ""] = sample;
    const pairs = [...labelText.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text_]) => [key, text_]);
    expect(Number.isNaN(Number(value.replace("+Inf", "Infinity")))).toBe(false);
    samples.push({
      series: line.slice(0, line.lastIndexOf(" ")),
      name,
      labels: Object.fromEntries(pairs),
      value: Number(value),
    });
  }
  return { samples, types, help };
}

const scrape = async (served: Served) => parse((await send(served.adminUrl, "/metrics")).text);

async function sumOf(served: Served, name: string, labels: Record<string, string | number> = {}): Promise<number> {
  const { samples } = await scrape(served);
  const wanted = Object.entries(labels);
  return samples
    .filter((sample) => sample.name === name && wanted.every(([key, value]) => sample.labels[key] === String(value)))
    .reduce((sum, sample) => sum + sample.value, 0);
}

const becomes = (served: Served, name: string, labels: Record<string, string | number>, value: number) =>
  eventually(async () => expect([name, await sumOf(served, name, labels)]).toEqual([name, value]));

/** The metric that a sample belongs to: histograms have three kinds of them. */
const metricOf = (name: string, types: ReadonlyMap<string, string>) =>
  types.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, "");

describeServed("the metrics", (serve) => {
  async function busy() {
    const served = await serve(shop);
    await served.send("/json/doc");
    await served.send("/json/none");
    await served.send("/api/things", { method: "POST", body: {}, as: writer });
    await served.send("/api/none");
    await served.send("/sessions", { method: "POST", as: basic("alice") });
    await send(served.origin, "/nowhere");
    return served;
  }

  it("are text that Prometheus reads, of its content type", async () => {
    const served = await busy();
    const reply = await send(served.adminUrl, "/metrics");
    expect(reply.headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
    const { samples } = parse(reply.text);
    expect(samples.length).toBeGreaterThan(50);
    expect(new Set(samples.map(({ series }) => series)).size).toBe(samples.length);
  });

  it("are all documented with help and a type, and named by Prometheus' rules", async () => {
    const served = await busy();
    const { samples, types, help } = await scrape(served);
    for (const name of new Set(samples.map((sample) => metricOf(sample.name, types)))) {
      expect([name, help.get(name)?.length ?? 0]).toEqual([name, expect.toSatisfy((length: number) => length > 15)]);
      expect(types.get(name)).toMatch(/^(?:counter|gauge|histogram)$/);
      expect(name).toMatch(/^(?:jsonplane|process)_[a-z_]+$/);
      expect(name.endsWith("_total")).toBe(types.get(name) === "counter");
      if (types.get(name) === "histogram") expect(name).toMatch(/_seconds$/);
    }
  });

  it("have histograms whose buckets grow up to +Inf, the count", async () => {
    const served = await busy();
    const { samples } = await scrape(served);
    const ofDoc = samples.filter(
      ({ name, labels }) => name.startsWith("jsonplane_kv_request_duration") && labels.root_key === "doc",
    );
    const buckets = ofDoc.filter(({ name }) => name.endsWith("_bucket"));
    const values = buckets.map(({ value }) => value);
    expect(values).toEqual([...values].sort((a, b) => a - b));
    expect(buckets.at(-1)?.labels.le).toBe("+Inf");
    expect(values.at(-1)).toBe(ofDoc.find(({ name }) => name.endsWith("_count"))?.value);
  });

  it("count Key/Value requests by root key, method and status, with their durations", async () => {
    const served = await serve(shop);
    await served.send("/json/doc");
    await served.send("/json/doc");
    await served.send("/json/doc/x");
    await served.send("/json/doc/b", { method: "PUT", body: 1, as: writer });
    const labels = { namespace: served.namespace, project: "shop", root_key: "doc" };
    await becomes(served, "jsonplane_kv_requests_total", { ...labels, method: "GET", status: 200 }, 2);
    await becomes(served, "jsonplane_kv_requests_total", { ...labels, method: "GET", status: 404 }, 1);
    await becomes(served, "jsonplane_kv_requests_total", { ...labels, method: "PUT", status: 201 }, 1);
    await becomes(served, "jsonplane_kv_request_duration_seconds_count", labels, 4);
    const seconds = await sumOf(served, "jsonplane_kv_request_duration_seconds_sum", labels);
    expect(seconds).toBeGreaterThan(0);
  });

  it("count API requests by resource, method and status", async () => {
    const served = await serve(shop);
    await served.send("/api/things", { method: "POST", body: {}, as: writer });
    await served.send("/api/things", { as: writer });
    await served.send("/api/things");
    const labels = { namespace: served.namespace, project: "shop", resource: "things" };
    await becomes(served, "jsonplane_api_requests_total", { ...labels, method: "POST", status: 201 }, 1);
    await becomes(served, "jsonplane_api_requests_total", { ...labels, method: "GET", status: 200 }, 1);
    await becomes(served, "jsonplane_api_requests_total", { ...labels, method: "GET", status: 401 }, 1);
    await becomes(served, "jsonplane_api_request_duration_seconds_count", labels, 3);
  });

  it("count logins by outcome, throttled ones among them, refreshes and ended sessions, and show the password queue", async () => {
    const served = await serve(shop);
    const labels = { namespace: served.namespace, project: "shop" };
    const opened = (await served.send("/sessions", { method: "POST", as: basic("alice") })).json<
      Record<string, string>
    >();
    await served.send("/sessions/refresh", { method: "POST", as: `Bearer ${opened.refresh_token}` });
    await served.send(`/sessions/${opened.session_id}`, { method: "DELETE", as: `bearer ${opened.access_token}` });
    for (let n = 0; n < 11; n += 1) await served.send("/sessions", { method: "POST", as: basic("alice", "wrong") });
    await becomes(served, "jsonplane_logins_total", { ...labels, outcome: "opened" }, 1);
    await becomes(served, "jsonplane_logins_total", { ...labels, outcome: "refused" }, 10);
    await becomes(served, "jsonplane_logins_total", { ...labels, outcome: "throttled" }, 1);
    await becomes(served, "jsonplane_session_refreshes_total", { ...labels, outcome: "refreshed" }, 1);
    await becomes(served, "jsonplane_sessions_ended_total", labels, 1);
    await becomes(served, "jsonplane_password_queue", { state: "running" }, 0);
    await becomes(served, "jsonplane_password_queue", { state: "waiting" }, 0);
  });

  it("time the store's calls, and show the configuration's age, the projects, the memory and the start", async () => {
    const served = await busy();
    expect(await sumOf(served, "jsonplane_store_duration_seconds_count", { outcome: "ok" })).toBeGreaterThan(2);
    const { samples, types } = await scrape(served);
    const operations = samples.filter(({ name }) => name === "jsonplane_store_duration_seconds_count");
    expect(operations.map(({ labels }) => labels.operation)).toContain("create");
    expect(types.get("jsonplane_config_age_seconds")).toBe("gauge");
    expect(await sumOf(served, "jsonplane_projects")).toBe(1);
    expect(await sumOf(served, "process_resident_memory_bytes")).toBeGreaterThan(1 << 20);
    const started = Date.now() / 1000 - process.uptime();
    expect(Math.abs((await sumOf(served, "process_start_time_seconds")) - started)).toBeLessThan(5);
  });

  it("count what was refused before it was a request", async () => {
    const served = await serve(shop);
    await sendRaw(served.origin, "garbage\r\n\r\n");
    await becomes(served, "jsonplane_other_requests_total", { target: "(no request)", status: 400 }, 1);
  });

  it("count each request once, one whose client left early as well", async () => {
    const served = await serve(shop);
    const connection = openRaw(served.origin);
    const head = `PUT ${served.base}/json/doc/b HTTP/1.1\r\nHost: a\r\nAuthorization: ${writer}\r\n`;
    connection.write(`${head}Expect: 100-continue\r\nContent-Length: 9\r\n\r\n`);
    await connection.arrived("100 Continue");
    connection.write("1");
    connection.destroy();
    await becomes(served, "jsonplane_kv_requests_total", { root_key: "doc" }, 1);
    await served.send("/json/doc");
    await becomes(served, "jsonplane_kv_requests_total", { root_key: "doc" }, 2);
  });
});

describeServed("label values", (serve) => {
  describe("are bounded", () => {
    const random = () => randomBytes(8).toString("base64url");
    /** One request of each kind that names something at random. */
    const hostile: readonly ((served: Served) => Promise<unknown>)[] = [
      (served) => send(served.origin, `/${random()}/${random()}/json/doc`),
      (served) => send(served.origin, `/${random()}`),
      (served) => send(served.origin, "/", { headers: { host: `${random()}.test` } }),
      (served) => served.send(`/api/${random()}`, { as: writer }),
      (served) => served.send(`/api/things/${random()}`, { as: writer }),
      (served) => served.send(`/json/${random()}/a`),
      (served) => served.send(`/json/doc/${random()}`),
      (served) => served.send(`/${random()}`),
      (served) => served.send(`/sessions/${random()}`, { as: writer }),
      (served) => served.send("/sessions", { method: "POST", as: basic(random()) }),
      (served) =>
        served.send("/json/doc", {
          method: ["PROPFIND", "LOCK", "MKCOL", "REPORT", "SUBSCRIBE"][randomBytes(1).readUInt8() % 5] ?? "LOCK",
        }),
      (served) => served.send("/json/doc", { as: `apikey ${random()}` }),
      (served) => served.send("/json/doc", { headers: { "x-request-id": random(), "user-agent": random() } }),
    ];

    it("five hundred requests with names at random make not one new series", async () => {
      const served = await serve(
        project("shop", withLimits({}), withKey("writer"), withRootKey("doc"), withResource("things")),
      );
      const round = async (times: number) => {
        for (let n = 0; n < times; n += 1) await Promise.all(hostile.map((request) => request(served)));
      };
      // Logins fail until they are throttled, so let that status come first as well.
      await round(101);
      const settled = async () => new Set((await scrape(served)).samples.map(({ series }) => series));
      await becomes(served, "jsonplane_kv_requests_total", {}, 101 * 5);
      const before = await settled();
      await round(39);
      await becomes(served, "jsonplane_kv_requests_total", {}, 140 * 5);
      expect(await settled()).toEqual(before);
      const { samples } = await scrape(served);
      expect(new Set(samples.map(({ labels }) => labels.root_key))).toEqual(new Set([undefined, "doc", "(unknown)"]));
      expect(new Set(samples.map(({ labels }) => labels.resource))).toEqual(
        new Set([undefined, "things", "(unknown)"]),
      );
      const methods = new Set(samples.map(({ labels }) => labels.method));
      expect(methods).toEqual(new Set([undefined, "GET", "POST", "other"]));
      expect(new Set(samples.map(({ labels }) => labels.project))).toEqual(new Set([undefined, "shop"]));
    });
  });
});
