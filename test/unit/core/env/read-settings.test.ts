import { describe, expect, it } from "vitest";
import { readSettings, type SettingTable } from "../../../../core/env/read-settings.ts";
import {
  adminPort,
  adoptData,
  allowedHosts,
  data,
  host,
  leaseDuration,
  logLevel,
  port,
  publicUrl,
  redis,
  trustedProxies,
  watchNamespaces,
  workers,
} from "../../../../core/env/settings.ts";

const settings = {
  adminPort,
  adoptData,
  allowedHosts,
  data,
  host,
  leaseDuration,
  logLevel,
  port,
  publicUrl,
  redis,
  trustedProxies,
  watchNamespaces,
  workers,
};

function read<T extends SettingTable>(
  table: T,
  flags: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string>> = {},
) {
  return readSettings(table, { flags: new Map(Object.entries(flags)), environment });
}

function valueGiven(name: keyof typeof settings, text: string): unknown {
  const setting = settings[name];
  const result = read({ [name]: setting }, { [setting.flag]: text });
  return result.ok ? result.values[name] : result.faults[0];
}

describe("readSettings", () => {
  it("lets a flag win over its variable, and a variable over the default", () => {
    expect(read({ port })).toEqual({ ok: true, values: { port: 8080 } });
    expect(read({ port }, {}, { JSONPLANE_PORT: "81" })).toEqual({ ok: true, values: { port: 81 } });
    expect(read({ port }, { port: "82" }, { JSONPLANE_PORT: "81" })).toEqual({ ok: true, values: { port: 82 } });
  });

  it("takes the store URL of a file that ends in a line break, as a Secret made with --from-file holds it", () => {
    expect(read({ redis }, {}, { JSONPLANE_REDIS: "redis://db:6379\n" })).toEqual({
      ok: true,
      values: { redis: "redis://db:6379" },
    });
    expect(valueGiven("redis", "redis://db:6379\r\n")).toBe("redis://db:6379");
    expect(read({ redis }, {}, { JSONPLANE_REDIS: "redis://db:6379\n\n" })).toMatchObject({ ok: false });
  });

  it("leaves out what has no default and is not said, and counts an empty variable as unsaid", () => {
    const result = read({ redis, adminPort }, {}, { JSONPLANE_REDIS: "", JSONPLANE_ADMIN_PORT: "" });
    expect(result).toEqual({ ok: true, values: { adminPort: 9090 } });
  });

  it("says everything that is wrong at once, each with where it was said", () => {
    const result = read({ port, adminPort, logLevel, host }, { port: "x" }, { JSONPLANE_LOG_LEVEL: "loud" });
    expect(result).toEqual({
      ok: false,
      faults: [
        '--port must be a port from 0 to 65535, not "x"',
        'JSONPLANE_LOG_LEVEL must be one of debug, info, warn, error, silent, not "loud"',
      ],
    });
  });

  it("does not take a Service that Kubernetes links for a port", () => {
    expect(read({ port: port }, {}, { JSONPLANE_PORT: "tcp://10.96.0.1:8080" })).toEqual({
      ok: true,
      values: { port: 8080 },
    });
    expect(read({ port: port }, { port: "tcp://10.96.0.1:8080" }).ok).toBe(false);
  });

  it("gives values that nobody can change", () => {
    const result = read({ port: port });
    expect(result.ok && Object.isFrozen(result.values)).toBe(true);
  });
});

describe("each setting", () => {
  it.each([
    ["port", "0", 0],
    ["port", "65535", 65535],
    ["host", "::1", "::1"],
    ["host", "localhost", "localhost"],
    ["publicUrl", "https://api.example.org/", "https://api.example.org"],
    ["publicUrl", "https://example.org/api/", "https://example.org/api"],
    ["trustedProxies", "10.0.0.0/8, ::1,2001:db8::/32", ["10.0.0.0/8", "::1", "2001:db8::/32"]],
    ["trustedProxies", "", []],
    ["logLevel", "silent", "silent"],
  ] as const)("%s reads %j", (name, text, value) => {
    expect(valueGiven(name, text)).toEqual(value);
  });

  it.each([
    ["port", "65536"],
    ["port", "-1"],
    ["port", "80.5"],
    ["port", ""],
    ["host", ""],
    ["host", "http://localhost"],
    ["host", "a b"],
    ["publicUrl", "api.example.org"],
    ["publicUrl", "ftp://example.org"],
    ["publicUrl", "https://user:secret@example.org"],
    ["publicUrl", "https://example.org/?a=1"],
    ["trustedProxies", "10.0.0.0/33"],
    ["trustedProxies", "proxy.example.org"],
    ["trustedProxies", "10.0.0.0/8/8"],
    ["logLevel", "INFO"],
    ["data", ""],
  ] as const)("%s refuses %j", (name, text) => {
    expect(valueGiven(name, text)).toMatch(/^--[a-z-]+ must /);
  });

  it("never repeats a URL that may hold a password", () => {
    expect(valueGiven("publicUrl", "https://user:secret@example.org")).not.toContain("secret");
  });

  it("reads the hosts that namespaces may claim", () => {
    expect(valueGiven("allowedHosts", "")).toEqual([]);
    const text = "shop=shop.example.org, *={namespace}.apps.example.org,*=open.example.net,";
    expect(valueGiven("allowedHosts", text)).toEqual([
      { namespace: "shop", suffix: "shop.example.org" },
      { namespace: "*", suffix: "{namespace}.apps.example.org" },
      { namespace: "*", suffix: "open.example.net" },
    ]);
  });

  it.each([
    [
      "shop.example.org",
      'must list rules such as shop=shop.example.org or *={namespace}.apps.example.org; "shop.example.org" is none',
    ],
    ["a=b=c", 'must list rules such as shop=shop.example.org or *={namespace}.apps.example.org; "a=b=c" is none'],
    ["=a.org", 'must name a namespace, or * for any, before the "="; not ""'],
    ["Shop=a.org", 'must name a namespace, or * for any, before the "="; not "Shop"'],
    ["shop*=a.org", 'must name a namespace, or * for any, before the "="; not "shop*"'],
    ["a=*.a.org", 'must not begin a host with "*.": "a.org" allows that name and every name below it'],
    ["a=.a.org", 'must not begin a host with ".": "a.org" allows that name and every name below it'],
    [
      "*=shop.{namespace}",
      'must end in a domain of the platform after {namespace}, as {namespace}.apps.example.org does; "shop.{namespace}" does not',
    ],
    ["a={name}.a.org", 'knows the placeholder {namespace} only; "{name}.a.org" has another'],
    ["a=", 'must name hosts in lower case such as apps.example.org, without scheme, port or path; "" is none'],
    ["a=*", 'must name hosts in lower case such as apps.example.org, without scheme, port or path; "*" is none'],
    [
      "a=A.org",
      'must name hosts in lower case such as apps.example.org, without scheme, port or path; "A.org" is none',
    ],
    [
      "a=a.org:80",
      'must name hosts in lower case such as apps.example.org, without scheme, port or path; "a.org:80" is none',
    ],
    [
      "a=a.org.",
      'must name hosts in lower case such as apps.example.org, without scheme, port or path; "a.org." is none',
    ],
  ])("refuses --allowed-hosts %s", (text, fault) => {
    expect(valueGiven("allowedHosts", text)).toBe(`--allowed-hosts ${fault}`);
  });

  it("reads the operator's settings", () => {
    expect(valueGiven("watchNamespaces", "a, b-2 ,")).toEqual(["a", "b-2"]);
    expect(valueGiven("watchNamespaces", "a,B")).toBe(
      '--watch-namespaces must be the name of a namespace, such as shop-2, not "B"',
    );
    expect(valueGiven("leaseDuration", "20s")).toBe(20);
    expect(valueGiven("leaseDuration", "2s")).toBe('--lease-duration must be a duration from 3s to 5m, not "2s"');
    expect(valueGiven("workers", "0")).toBe('--workers must be a whole number of at least 1, not "0"');
    expect(valueGiven("adoptData", "true")).toBe(true);
    expect(read({ adoptData, workers, watchNamespaces, allowedHosts })).toEqual({
      ok: true,
      values: { adoptData: false, workers: 8, watchNamespaces: [], allowedHosts: [] },
    });
  });
});
