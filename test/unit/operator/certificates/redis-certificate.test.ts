import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  type CertificateEntries,
  dueCertificates,
  ensureRedisCertificate,
  lifetimeMs,
} from "../../../../operator/certificates/redis-certificate.ts";
import { makeSelfSigned } from "../../../../operator/certificates/self-signed.ts";

const host = "jsonplane-redis.jsonplane-system.svc";
const hour = 3_600_000;
const day = 24 * hour;
const start = Date.UTC(2030, 0, 1);

/** The entries as they are once everything is done that is due at that time. */
function settled(entries: CertificateEntries, time: number): CertificateEntries {
  return dueCertificates(entries, host, time) ?? entries;
}

const trusted = (entries: CertificateEntries) => entries["ca.crt"]?.match(/-----BEGIN/g)?.length ?? 0;

describe("the certificate of a bundled Redis", () => {
  const first = settled({}, start);

  it("is for the one host, is no authority, and is trusted by itself", () => {
    const certificate = new X509Certificate(first["tls.crt"] ?? "");
    expect(certificate.checkHost(host)).toBe(host);
    expect(certificate.checkHost("another.svc")).toBeUndefined();
    expect(certificate.ca).toBe(false);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(first["ca.crt"]).toBe(first["tls.crt"]);
    expect(certificate.validToDate.getTime()).toBe(start + lifetimeMs);
  });

  it("stays for two thirds of its time", () => {
    expect(dueCertificates(first, host, start + 243 * day)).toBeUndefined();
  });

  it("is renewed in two steps: the next one is trusted an hour before it is shown", () => {
    const announced = settled(first, start + 244 * day);
    expect(announced["tls.crt"]).toBe(first["tls.crt"]);
    expect(trusted(announced)).toBe(2);
    const subjects = [announced["tls.crt"], announced["next.crt"]].map((pem) => new X509Certificate(pem ?? "").subject);
    expect(subjects[0], "OpenSSL finds what it trusts by its subject").not.toBe(subjects[1]);
    expect(dueCertificates(announced, host, start + 244 * day + hour - 1)).toBeUndefined();
    const renewed = settled(announced, start + 244 * day + hour);
    expect(renewed["tls.crt"]).toBe(announced["next.crt"]);
    expect(renewed["tls.key"]).toBe(announced["next.key"]);
    expect(renewed["ca.crt"]).toBe(`${first["tls.crt"]}${renewed["tls.crt"]}`);
    expect(Object.keys(renewed).sort()).toEqual(["ca.crt", "tls.crt", "tls.key"]);
    expect(dueCertificates(renewed, host, start + 300 * day)).toBeUndefined();
  });

  it("can be made after 2049, of which certificates write all digits", () => {
    const from = Date.UTC(2049, 6, 1);
    const { certificate } = makeSelfSigned({ host, from, until: from + lifetimeMs });
    expect(new X509Certificate(certificate).validToDate.getTime()).toBe(from + lifetimeMs);
  });

  it.each([
    ["has ended", first, start + lifetimeMs + 1],
    ["is of a time to come, as a clock that was wrong made it", settled({}, start + 30 * day), start],
    ["is for another host", settled({}, start), start, "elsewhere.svc"],
    ["has another one's key", { ...first, "tls.key": settled({}, start)["tls.key"] ?? "" }, start],
    ["is none", { ...first, "tls.crt": "nothing" }, start],
    ["has no entries", {}, start],
  ] as const)("is made anew where it %s", (_why, entries: CertificateEntries, time, name: string = host) => {
    const made = dueCertificates(entries, name, time);
    expect(made?.["tls.crt"]).not.toBe(entries["tls.crt"]);
    expect(made?.["ca.crt"]).toBe(made?.["tls.crt"]);
  });

  it("is trusted again where somebody has taken it out of what clients trust", () => {
    expect(settled({ ...first, "ca.crt": "" }, start)).toEqual(first);
    const announced = settled(first, start + 244 * day);
    const torn = settled({ ...announced, "ca.crt": first["tls.crt"] ?? "" }, start + 250 * day);
    expect(torn).toEqual(announced);
  });

  it("is not made in a Secret that somebody else made", async () => {
    const metadata = { namespace: "system", name: "tls", uid: "1", resourceVersion: "1" };
    const refuse = async () => Promise.reject(new Error("It was written"));
    const api = { get: async () => ({ metadata, data: {} }), create: refuse, replace: refuse };
    const ensured = ensureRedisCertificate({ api, secret: metadata, host, clock: { now: () => start } });
    await expect(ensured).rejects.toThrow("Secret system/tls is not jsonplane's");
  });
});
