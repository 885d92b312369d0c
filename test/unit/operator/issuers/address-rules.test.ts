// Where keys are never fetched from, in every way in which such an address can be written.

import { describe, expect, it } from "vitest";
import { clusterAddresses, devAddresses } from "../../../../operator/issuers/address-rules.ts";

const loopback = ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"];
const never = [
  // A gateway makes loopback addresses of them, which are not this machine's.
  ...[
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "64:ff9b:1::7f00:1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "fd00::5efe:7f00:1",
  ],
  ...["240.0.0.1", "fd00:ec2::23", "fd00:ec2::253", "fd00:c1::a9fe:a9fe"],
  ...["0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0"],
  ...["169.254.169.254", "169.254.0.1", "::ffff:169.254.169.254", "::169.254.169.254", "64:ff9b::a9fe:a9fe"],
  ...["2002:a9fe:a9fe::1", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1"],
  ...["224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1", "ff0e::1"],
  ...["fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "::ffff:100.100.100.200"],
];
const others = [
  "10.0.0.1",
  "172.16.3.4",
  "192.168.1.1",
  "100.64.0.1",
  "fd12:3456::1",
  "8.8.8.8",
  "2001:4860::8888",
  "::ffff:10.0.0.1",
];

describe("in a cluster", () => {
  it.each([...loopback, ...never])("nothing is fetched from %s", (address) => {
    expect(clusterAddresses.mayConnectTo(address)).toBe(false);
  });
  it.each(others)("an issuer may be at %s", (address) => {
    expect(clusterAddresses.mayConnectTo(address)).toBe(true);
  });
  it("nothing is fetched without TLS", () => {
    expect(clusterAddresses.mayFetch(new URL("http://localhost/"))).toBe(false);
    expect(clusterAddresses.mayFetch(new URL("file:///etc/passwd"))).toBe(false);
    expect(clusterAddresses.mayFetch(new URL("https://login.example.org/"))).toBe(true);
  });
});

describe("in dev mode", () => {
  it.each(never)("nothing is fetched from %s either", (address) => {
    expect(devAddresses.mayConnectTo(address)).toBe(false);
  });
  it.each([...loopback, ...others])("an issuer may be at %s", (address) => {
    expect(devAddresses.mayConnectTo(address)).toBe(true);
  });
  it.each([
    ["http://localhost:8080/", true],
    ["http://127.0.0.1/", true],
    ["http://[::1]:8080/", true],
    ["http://[64:ff9b::127.0.0.1]/", false],
    ["http://login.example.org/", false],
    ["http://localhost.example.org/", false],
    ["https://login.example.org/", true],
  ])("plain HTTP is for this machine: %s is %s", (url, expected) => {
    expect(devAddresses.mayFetch(new URL(url))).toBe(expected);
  });
});
