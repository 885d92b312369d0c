// Faults of which external issuers are allowed, of how their keys are fetched, and of which keys count.

import type { Mutation } from "../mutation.ts";

const rules = "core/env/issuer-rules.ts";
const onRules = "test/unit/core/env/issuer-rules.test.ts";
const fetching = "operator/issuers/fetch-text.ts";
const onFetching = "test/unit/operator/issuers/fetch-issuer.test.ts";
const addresses = "operator/issuers/address-rules.ts";
const onAddresses = "test/unit/operator/issuers/address-rules.test.ts";
const keySet = "core/issuers/key-set.ts";
const onKeySet = "test/unit/core/issuers/key-set.test.ts";
const fetcher = "operator/issuers/issuer-fetcher.ts";
const onFetcher = "test/unit/operator/issuers/issuer-fetcher.test.ts";
const compiling = "operator/compile/compile-issuers.ts";
const declared = "operator/compile/declared-issuers.ts";
const kept = "operator/compile/kept-issuers.ts";
const onKept = "test/unit/operator/compile/kept-issuers.test.ts";
const onCompiling = "test/unit/operator/compile/compile-issuers.test.ts";
const inACluster = "test/operator/external-issuers.test.ts";

export const fetchedIssuerMutations: readonly Mutation[] = [
  {
    name: "issuer-rule-ignores-the-port",
    harm: "A Project names an issuer at another port of an allowed host, where anybody may run a server",
    file: rules,
    find: "if (port !== pattern.port || !isHostOf(pattern.host, hostname)) return false;",
    replace: "if (!isHostOf(pattern.host, hostname)) return false;",
    caughtBy: [onRules],
  },
  {
    name: "issuer-rule-allows-a-way-out",
    harm: "A Project names an issuer beside the allowed path",
    file: rules,
    find: "return path.startsWith(pattern.path) && !otherWay.test(path);",
    replace: "return path.startsWith(pattern.path);",
    caughtBy: [onRules],
  },
  {
    name: "wildcard-issuer-matches-other-domains",
    harm: "Whoever owns evilexample.org makes tokens where hosts of example.org are allowed",
    file: rules,
    find: "hostname.endsWith(host.slice(1))",
    replace: "hostname.endsWith(host.slice(2))",
    caughtBy: [onRules],
  },
  {
    name: "fetched-keys-outlive-the-manifest's",
    harm: "A Project names the keys that still count, and while something else in its spec is wrong, the others go on counting",
    file: kept,
    find: "if (jwks === undefined) return keysAreFetched ? keys : [];",
    replace: "if (keysAreFetched) return keys;\n  if (jwks === undefined) return [];",
    caughtBy: [onKept],
  },
  {
    name: "suspended-project-fetches-what-it-will-name",
    harm: "A suspended Project whose issuer was renamed or left out goes on trusting keys that the issuer has given up",
    file: declared,
    find: "if (!project.spec.suspend) return issuerSourcesOf(project, isAllowed);",
    replace: "if (project.spec) return issuerSourcesOf(project, isAllowed);",
    caughtBy: ["test/unit/operator/runtime/report-key.test.ts"],
  },
  {
    name: "suspended-project-keeps-a-former-one's-issuers",
    harm: "Callers of an issuer that only a deleted Project named come in for as long as Secrets can't be had",
    file: "operator/reconcile/publish.ts",
    find: "project.spec.suspend && project.metadata.uid === published.project.uid;",
    replace: "project.spec.suspend === true;",
    caughtBy: ["test/unit/operator/runtime/revoked-all-the-same.test.ts"],
  },
  {
    name: "keys-stay-that-left-the-manifest",
    harm: "Keys that a Project has taken out of its manifest go on counting where the authority to fetch others by can't be read",
    file: compiling,
    find: "...(wasFetched(former) ? kept : undefined)",
    replace: "...kept",
    caughtBy: [onCompiling],
  },
  {
    name: "issuer-without-keys-counts-as-kept",
    harm: "A Project is Ready although nobody gets in by an issuer of it that was never reached",
    file: compiling,
    find: "wasFetched(former) && former.keys.length > 0 ?",
    replace: "wasFetched(former) ?",
    caughtBy: [onCompiling],
  },
  {
    name: "issuer-without-keys-unpublished",
    harm: "A caller is told that its issuer is not the project's, when only the keys are lacking",
    file: compiling,
    find: 'source.kind === "cluster" ? {} :',
    replace: "Math.random() < 2 ? {} :",
    caughtBy: [onCompiling],
  },
  {
    name: "issuer-that-is-not-allowed-is-served",
    harm: "A Project takes tokens of an issuer that the platform does not allow",
    file: declared,
    find: "if (isAllowed(url)) return undefined;",
    replace: "if (isAllowed(url) || url.startsWith('https://')) return undefined;",
    caughtBy: [onCompiling],
  },
  {
    name: "issuer-no-longer-allowed-stays-while-suspended",
    harm: "Tokens of an issuer that the platform has shut out are accepted by a suspended Project",
    file: kept,
    find: "isClusterIssuer(config) || isAllowed(config.url)",
    replace: "isClusterIssuer(config) || config.url !== isAllowed.name",
    caughtBy: [onCompiling],
  },
  {
    name: "removed-service-account-stays-with-a-broken-spec",
    harm: "A ServiceAccount that was removed is let in, because something else in the spec is wrong",
    file: kept,
    find: "if (now === undefined) return [];",
    replace: "if (now === undefined) return [account];",
    caughtBy: [onKept],
  },
  {
    name: "removed-issuer-stays-with-a-broken-spec",
    harm: "Tokens of an issuer that was removed are accepted, because something else in the spec is wrong",
    file: "operator/compile/check-project.ts",
    find: "const granted = stillGranted(project, published.issuers, context.issuers.isAllowed);",
    replace: "const granted = published.issuers;",
    caughtBy: [onKept],
  },
  {
    name: "keys-of-another-issuer-stay",
    harm: "A Project that names another issuer takes tokens of the former one",
    file: declared,
    find: "!isClusterIssuer(config) && config.url === url",
    replace: "!isClusterIssuer(config)",
    caughtBy: [onCompiling],
  },
  {
    name: "status-shows-what-an-issuer-answered",
    harm: "Whoever writes a Project reads what only the operator can reach",
    file: "operator/issuers/fetch-issuer.ts",
    find: 'another issuer than this url, to the letter", { detail });',
    replace: 'another issuer than this url, to the letter" + detail);',
    caughtBy: [onFetching],
  },
  {
    name: "status-shows-details-of-fetches",
    harm: "Whoever writes a Project reads in its status which ports are open, and what is behind them",
    file: fetcher,
    find: "this.#deps.showsDetails === true && detail",
    replace: "detail",
    caughtBy: [onFetcher],
  },
  {
    name: "discovery-of-another-issuer-counts",
    harm: "Whoever answers at a URL of an issuer brings another issuer's keys under its name",
    file: "operator/issuers/fetch-issuer.ts",
    find: "if (issuer !== url)",
    replace: "if (!url.startsWith('https://'))",
    caughtBy: [onFetching],
  },
  {
    name: "redirect-is-taken-for-a-document",
    harm: "An answer that is none is read as the issuer's own",
    file: fetching,
    find: "if (statusCode !== 200) {",
    replace: "if (statusCode >= 400) {",
    caughtBy: [onFetching],
  },
  {
    name: "issuer-may-answer-without-end",
    harm: "A tenant's issuer uses up the memory of the operator",
    file: fetching,
    find: "if (bytes > maxBytes) throw",
    replace: "if (bytes > maxBytes * 1024) throw",
    caughtBy: [onFetching],
  },
  {
    name: "resolved-address-is-not-checked",
    harm: "A tenant has the operator ask its own machine, by a name that leads there",
    file: fetching,
    find: "const failure = error ?? faultOf(addresses, rules);",
    replace: "const failure = error ?? undefined;",
    caughtBy: [onFetching],
  },
  {
    name: "address-in-a-url-is-not-checked",
    harm: "A tenant has the operator ask the metadata service of its cloud",
    file: fetching,
    find: "if (isIP(hostIn(url)) !== 0 && !rules.mayConnectTo(hostIn(url))) throw refusedAddress();",
    replace: "",
    caughtBy: [onFetching],
  },
  {
    name: "embedded-address-is-not-checked",
    harm: "The same, by an IPv6 address that stands for it",
    file: addresses,
    find: 'return list.check(bare, "ipv6") || (inner !== undefined && list.check(inner, "ipv4"));',
    replace: 'return list.check(bare, "ipv6") || inner === "";',
    caughtBy: [onAddresses],
  },
  {
    name: "operator-fetches-as-dev-mode-does",
    harm: "Projects reach what listens on the operator's own machine",
    file: "operator/issuers/fetch-limits.ts",
    find: "addresses: clusterAddresses,",
    replace: "addresses: { ...clusterAddresses, mayConnectTo: () => true },",
    caughtBy: [inACluster],
  },
  {
    name: "public-part-of-a-shown-key-counts-on",
    harm: "A key whose private part the issuer shows verifies what anybody signs with it",
    file: keySet,
    find: "usable.filter((key) => !exposed.has(materialOf(key)))",
    replace: "usable.filter((key) => exposed.size >= 0 || !exposed.has(materialOf(key)))",
    caughtBy: [onKeySet],
  },
  {
    name: "private-keys-are-published",
    harm: "An issuer that shows its private key by mistake is trusted on, and whoever reads it signs tokens",
    file: keySet,
    find: "if (shown.length > 0) {",
    replace: "if (shown.length > 1) {",
    caughtBy: [onKeySet],
  },
  {
    name: "weak-rsa-keys-count",
    harm: "Tokens are accepted that a factored key has signed",
    file: "core/issuers/algorithms.ts",
    find: "min: 2_048",
    replace: "min: 512",
    caughtBy: [onKeySet],
  },
  {
    name: "key-for-encryption-verifies",
    harm: "A key that the issuer has for something else signs tokens",
    file: keySet,
    find: 'if (use !== undefined && use !== "sig") return undefined;',
    replace: "",
    caughtBy: [onKeySet],
  },
  {
    name: "wanted-keys-are-fetched-without-end",
    harm: "Whoever sends tokens with made-up keys has the operator flood the issuer",
    file: fetcher,
    find: "if (wait > wantedForMs) return;",
    replace: "if (wait > 1e9) return;",
    caughtBy: [onFetcher],
  },
  {
    name: "unreachable-issuer-loses-its-keys",
    harm: "Everybody is shut out while an identity provider restarts",
    file: compiling,
    find: ": { ...kept, ...stillUsed(known.failure) }",
    replace: ": { refused: unreachable(known.failure) }",
    caughtBy: [onCompiling],
  },
  {
    name: "start-of-an-operator-tells-of-issuers",
    harm: "Each start of an operator writes the status of every Project with an issuer, twice",
    file: "operator/reconcile/reconcile.ts",
    find: "if (awaitsIssuers === true) return pendingMs;",
    replace: "",
    caughtBy: ["test/unit/operator/runtime/report-key.test.ts"],
  },
];
