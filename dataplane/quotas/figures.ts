// What a quota counts, and sums of it. Pure.

import type { QuotaKind } from "../../core/config/quota-uses.ts";

export type Figures = Readonly<Record<QuotaKind, number>>;
export type SomeFigures = Readonly<Partial<Figures>>;

export const noFigures: Figures = { objects: 0, bytes: 0, documentKeys: 0 };

/** `figures` with `times` as much of `change` added. */
export function plus(figures: Figures, change: SomeFigures, times: 1 | -1 = 1): Figures {
  const { objects = 0, bytes = 0, documentKeys = 0 } = change;
  return {
    objects: figures.objects + times * objects,
    bytes: figures.bytes + times * bytes,
    documentKeys: figures.documentKeys + times * documentKeys,
  };
}
