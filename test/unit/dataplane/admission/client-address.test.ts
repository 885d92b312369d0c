import { describe, expect, test } from "vitest";
import { addressGroup } from "../../../../dataplane/admission/client-address.ts";

describe("the group of a client address", () => {
  test.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::FFFF:c000:207", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"],
    ["2001:db8:1:3::1", "2001:db8:1:3::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["192.0.2.7:4711", "192.0.2.7"],
    ["[2001:db8:1:2::1]:4711", "2001:db8:1:2::/64"],
    ["[2001:db8:1:2::1]", "2001:db8:1:2::/64"],
    ["[::ffff:192.0.2.7]:4711", "192.0.2.7"],
  ])("of %s is %s", (address, group) => {
    expect(addressGroup(address)).toBe(group);
  });

  test.each([
    "",
    "localhost",
    "192.0.2.7, 10.0.0.1",
    "192.0.2.256",
    "192.0.2.7:",
    "[",
    "[]:1",
    "[[::1]]:1",
    "1".repeat(10_000),
  ])("of %j, which is no address, is one for all such", (text) => {
    expect(addressGroup(text)).toBe("unknown");
  });
});
