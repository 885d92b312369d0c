import { describe, expect, test } from "vitest";
import { readSecret } from "../../../../core/manifests/secret.ts";

const about = { apiVersion: "v1", kind: "Secret", metadata: { name: "login" } } as const;

function entries(object: Parameters<typeof readSecret>[0]): Readonly<Record<string, string>> {
  const result = readSecret(object);
  if (!result.ok) expect.fail(result.problems[0]?.message);
  return Object.fromEntries(Array.from(result.secret.data, ([name, bytes]) => [name, Buffer.from(bytes).toString()]));
}

describe("a Secret", () => {
  test("holds decoded data, over several lines too, and stringData as it stands, which wins", () => {
    const object = { ...about, data: { a: "aGV\nsbG8=", b: "b2xk" }, stringData: { b: "new", c: "zürich" } };
    expect(entries(object)).toEqual({ a: "hello", b: "new", c: "zürich" });
  });

  test("is Opaque and in the namespace default unless it says otherwise", () => {
    expect(readSecret(about)).toMatchObject({ secret: { type: "Opaque", metadata: { namespace: "default" } } });
    const other = { ...about, type: "example.org/login", metadata: { name: "a.b", namespace: "shop" } };
    expect(readSecret(other)).toMatchObject({
      secret: { type: "example.org/login", metadata: { name: "a.b", namespace: "shop" } },
    });
  });

  test("keeps bytes that are no text", () => {
    const result = readSecret({ ...about, data: { a: "/wA=" } });
    expect(result.ok && result.secret.data.get("a")).toEqual(Uint8Array.of(0xff, 0));
  });

  test("with plain text in data is refused without repeating it", () => {
    const result = readSecret({ ...about, data: { password: "correct horse" } });
    expect(result).toMatchObject({
      ok: false,
      problems: [{ pointer: "/data/password", detail: expect.stringContaining("base64") }],
    });
    expect(JSON.stringify(result)).not.toContain("horse");
  });

  test("with a number for an entry is refused without repeating it", () => {
    const result = readSecret({ ...about, stringData: { pin: 31337 } });
    expect(result).toMatchObject({ ok: false, problems: [{ pointer: "/stringData/pin" }] });
    expect(JSON.stringify(result)).not.toContain("31337");
  });

  test("with an impossible name, an impossible entry or an unknown field is refused", () => {
    for (const change of [
      { metadata: { name: "Login_1" } },
      { metadata: {} },
      { data: { "a b": "" } },
      { data: { "..a": "" } },
      { data: { ".": "" } },
      { data: [] },
      { immutable: "yes" },
      { stringdata: { a: "x" } },
      { type: 1 },
    ]) {
      expect(readSecret({ ...about, ...change }), JSON.stringify(change)).toMatchObject({ ok: false });
    }
  });

  test("without an entry that its type wants is refused", () => {
    const basic = { ...about, type: "kubernetes.io/basic-auth" };
    expect(readSecret({ ...basic, stringData: { pin: "x" } })).toMatchObject({
      ok: false,
      problems: [{ pointer: "/data", detail: expect.stringContaining("has username or password") }],
    });
    expect(readSecret({ ...basic, stringData: { password: "x" } }).ok).toBe(true);
    expect(readSecret({ ...about, type: "kubernetes.io/tls", stringData: { "tls.crt": "x" } }).ok).toBe(false);
  });

  test("of more than 1 MiB in all its entries is refused", () => {
    const text = "x".repeat(512 * 1024);
    expect(readSecret({ ...about, stringData: { a: text, b: text } }).ok).toBe(true);
    expect(readSecret({ ...about, stringData: { a: text, b: text, c: "x" } })).toMatchObject({
      ok: false,
      problems: [{ pointer: "/data", detail: "Too long: may not be more than 1048576 bytes" }],
    });
  });
});
