// The order in which vitest takes test files: the one that takes minutes and mostly waits comes first, so that nothing waits for it in
// the end; then vitest's own order, by the time or size of the files.

import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

export class StartOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isFirst = ({ project }: TestSpecification): boolean => project.name === "e2e";
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))];
  }
}
