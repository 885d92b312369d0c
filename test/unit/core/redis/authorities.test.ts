import { X509Certificate } from "node:crypto";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, expect, it } from "vitest";
import { createTrust, InvalidAuthorities } from "../../../../core/redis/authorities.ts";
import { makeSelfSigned } from "../../../../operator/certificates/self-signed.ts";

const usual = getCACertificates("default");
afterAll(() => setDefaultCACertificates(usual));

const made = (host: string) => makeSelfSigned({ host, from: Date.now(), until: Date.now() + 60_000 }).certificate;
const trusted = () =>
  getCACertificates("default")
    .map((each) => new X509Certificate(each).subjectAltName)
    .filter((name) => name?.endsWith(".svc"))
    .sort();

it("what is trusted takes the place of what was, and of a file that is being written nothing is taken", () => {
  const trust = createTrust();
  const [one, two] = [made("one.svc"), made("two.svc")];
  trust(one);
  for (const torn of ["", "text", two.slice(0, -40), two + one.slice(0, 300)]) {
    expect(() => trust(torn)).toThrow(InvalidAuthorities);
  }
  expect(trusted()).toEqual(["DNS:one.svc"]);
  trust(one + two);
  expect(trusted()).toEqual(["DNS:one.svc", "DNS:two.svc"]);
  trust(two);
  expect(trusted()).toEqual(["DNS:two.svc"]);
});
