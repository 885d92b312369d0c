// What the checks find: sentences about what must not be, and figures about what may.

export interface CheckResult {
  readonly violations: readonly string[];
  /** Acknowledged writes that are gone, as the durability allows. */
  readonly lost: number;
  /**
   * Writes of unknown outcome that took place after a later one of the same client was
   * acknowledged.
   */
  readonly late: number;
}

export function joined(all: readonly Partial<CheckResult>[]): CheckResult {
  return {
    violations: all.flatMap((each) => each.violations ?? []),
    lost: all.reduce((sum, each) => sum + (each.lost ?? 0), 0),
    late: all.reduce((sum, each) => sum + (each.late ?? 0), 0),
  };
}
