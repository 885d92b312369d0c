// Which rules hold while the platform edits them.

import { describe, expect, it } from "vitest";
import { createFollowedGuardRails } from "../../../../operator/guard-rails/rules.ts";
import type { KubeObject } from "../../../../operator/kube/api.ts";

function follow() {
  const errors: unknown[] = [];
  let changes = 0;
  const logger = { info: () => undefined, error: (...line: unknown[]) => void errors.push(line) } as never;
  const rails = createFollowedGuardRails("rails", logger, () => {
    changes += 1;
  });
  const put = (data?: Record<string, string>): void =>
    rails.sink.upserted(
      { metadata: { name: "rails" }, data: { allowedHosts: "", ...data } } as unknown as KubeObject,
      undefined,
      false,
    );
  return { rails, put, errors, changes: () => changes };
}

describe("followed guard rails", () => {
  it("are not known, and say so, until their ConfigMap was seen", () => {
    const { rails, put } = follow();
    expect([rails.isKnown(), rails.fault()]).toEqual([
      false,
      "the ConfigMap rails with the guard rails has not been read yet: it must exist, and the operator needs the right to list and watch it",
    ]);
    put();
    expect([rails.isKnown(), rails.fault()]).toEqual([true, undefined]);
  });

  it("are not known while the first that is seen has a mistake", () => {
    const { rails, put, errors, changes } = follow();
    put({ anyone: "No" });
    expect([rails.isKnown(), changes()]).toEqual([false, 0]);
    expect(rails.fault()).toBe("the ConfigMap rails with the guard rails has a mistake: the operator's log says which");
    expect(errors).toEqual([
      [
        "Guard rails can't be read; not leading until they can",
        { configMap: "rails", error: expect.stringContaining('anyone must be one of Allow, ReadOnly, Deny, not "No"') },
      ],
    ]);
  });

  it("stay as they were when the ConfigMap is deleted or gets a mistake, and are new as soon as it can be read", () => {
    const { rails, put, errors, changes } = follow();
    put({ anyone: "Deny" });
    put({ anyone: "No" });
    expect(rails.current().rulesOf("a")).toEqual({ anyone: "Deny", allowedHosts: [] });
    expect(rails.fault()).toContain("has a mistake");
    rails.sink.removed({ metadata: { name: "rails" } } as unknown as KubeObject, false);
    expect(rails.current().rulesOf("a")).toEqual({ anyone: "Deny", allowedHosts: [] });
    expect([rails.isKnown(), rails.fault()]).toEqual([true, "the ConfigMap rails with the guard rails was deleted"]);
    expect(errors).toHaveLength(2);
    put({ anyone: "Allow" });
    expect(rails.current().rulesOf("a")).toEqual({ anyone: "Allow", allowedHosts: [] });
    expect([rails.fault(), changes()]).toEqual([undefined, 2]);
  });

  it("are not new when only the ConfigMap's metadata are", () => {
    const { put, changes } = follow();
    put({ anyone: "Deny" });
    put({ anyone: "Deny" });
    expect(changes()).toBe(1);
  });
});
