// Which certificates this process trusts besides those that Node brings and NODE_EXTRA_CA_CERTS
// names, for Redis over TLS. It may change while the process runs: Node reads its variable once. It
// counts for each connection that is opened from then on.

import { X509Certificate } from "node:crypto";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

/** The text has no certificate in PEM, or one that can't be read or is cut off. */
export class InvalidAuthorities extends Error {
  override readonly name = "InvalidAuthorities";
}

/** Takes certificates in PEM, in place of those that it took before. Throws InvalidAuthorities. */
export type TrustAuthorities = (text: string) => void;

/** For the whole process: one of these at a time. */
export function createTrust(): TrustAuthorities {
  let usual: readonly string[] | undefined;
  let taken: string | undefined;
  return (text) => {
    // To set them takes tens of milliseconds, and as many for the connection that comes next.
    if (text === taken) return;
    const further = readCertificates(text);
    usual ??= getCACertificates("default");
    setDefaultCACertificates([...usual, ...further]);
    taken = text;
  };
}

/** Each in PEM. Throws InvalidAuthorities. */
function readCertificates(text: string): readonly string[] {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const begun = text.match(/-----BEGIN CERTIFICATE-----/g) ?? [];
  if (begun.length === 0) throw new InvalidAuthorities("There is no certificate in it: it needs to be PEM");
  if (begun.length !== found.length) throw new InvalidAuthorities("A certificate in it is cut off");
  try {
    return found.map((each) => new X509Certificate(each).toString());
  } catch (cause) {
    throw new InvalidAuthorities("A certificate in it can't be read", { cause });
  }
}
