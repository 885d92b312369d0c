// Turns a RootKey into its configuration; refuses an initial value that could not be stored.

import type { RootKeyConfig } from "../../core/config/types.ts";
import { rootKeyOf } from "../model/kinds.ts";
import type { RootKey } from "../model/objects.ts";
import type { Result } from "../model/verdict.ts";
import { initialValueText } from "./initial-value.ts";

export function compileRootKey(rootKey: RootKey, bounds: { readonly maxDocumentBytes: number }): Result<RootKeyConfig> {
  const initialValue = initialValueText(rootKey.spec.initialValue, bounds.maxDocumentBytes);
  if (!initialValue.ok) return initialValue;
  const { create, read, update, delete: remove } = rootKey.spec.access;
  const value: RootKeyConfig = {
    key: rootKeyOf(rootKey),
    uid: rootKey.metadata.uid,
    initialValue: initialValue.value,
    access: { create, read, update, delete: remove },
  };
  return { ok: true, value };
}
