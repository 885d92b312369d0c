// Generated from charts/jsonplane/files/crds/ by `npm run generate`. Change the CRD, not this file.
import type { Json } from "../../config/types.ts";
import type { Condition, ObjectMeta } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";

export interface RootKey {
  readonly apiVersion: "jsonplane.io/v1alpha1";
  readonly kind: "RootKey";
  readonly metadata: ObjectMeta;
  readonly spec: RootKeySpec;
  readonly status?: RootKeyStatus;
}
export interface RootKeySpec {
  readonly projectRef: {
    readonly name: string;
  };
  readonly key?: string;
  readonly initialValue?: Json;
  readonly access: {
    readonly create: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
    readonly read: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
    readonly update: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
    readonly delete: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
  };
  readonly changes?: {
    readonly retention: string;
    readonly maxEntries: number;
  };
  readonly deletionPolicy?: "Retain" | "Delete";
}
export interface RootKeyStatus {
  readonly observedGeneration?: number;
  readonly controller?: string;
  readonly liveGeneration?: number;
  readonly url?: string;
  readonly conditions?: readonly Condition[];
}

export const rootKeySchema: SchemaNode = {
  "type": "object",
  "x-kubernetes-validations": [
    {
      "rule": "self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",
      "fieldPath": ".metadata.name",
      "message": "metadata.name may have lower-case letters, digits and -, up to 63 of them, and starts and ends with a letter or digit"
    },
    {
      "rule": "self.spec.projectRef.name == oldSelf.spec.projectRef.name",
      "fieldPath": ".spec.projectRef.name",
      "reason": "FieldValueForbidden",
      "message": "projectRef is immutable: write the former name again, or delete this RootKey and create it again for the other project"
    },
    {
      "rule": "(has(self.spec.key) ? self.spec.key : self.metadata.name) == (has(oldSelf.spec.key) ? oldSelf.spec.key : oldSelf.metadata.name)",
      "fieldPath": ".spec.key",
      "reason": "FieldValueForbidden",
      "message": "key (metadata.name where it is unset) is immutable: write the former value again, or delete this RootKey and create one of the other key"
    }
  ],
  "required": ["spec"],
  "properties": {
    "apiVersion": {"type":"string"},
    "kind": {"type":"string"},
    "metadata": {"type":"object","properties":{"name":{"type":"string","maxLength":63}}},
    "spec": {
      "type": "object",
      "required": ["projectRef"],
      "properties": {
        "projectRef": {
          "type": "object",
          "required": ["name"],
          "properties": {
            "name": {
              "type": "string",
              "minLength": 1,
              "maxLength": 63,
              "x-kubernetes-validations": [
                {
                  "rule": "self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",
                  "message": "projectRef.name may have lower-case letters, digits and -, and starts and ends with a letter or digit, as every Project's name does"
                }
              ]
            }
          }
        },
        "key": {
          "type": "string",
          "maxLength": 63,
          "x-kubernetes-validations": [
            {
              "rule": "self.matches('^[A-Za-z0-9_-]+$')",
              "message": "key may have letters, digits, - and _, up to 63 of them"
            }
          ]
        },
        "initialValue": {"nullable":true,"x-kubernetes-preserve-unknown-fields":true},
        "access": {
          "type": "object",
          "default": {},
          "properties": {
            "create": {
              "type": "string",
              "enum": ["Anyone","Authenticated","Administrators","Nobody"],
              "default": "Authenticated"
            },
            "read": {
              "type": "string",
              "enum": ["Anyone","Authenticated","Administrators","Nobody"],
              "default": "Anyone"
            },
            "update": {
              "type": "string",
              "enum": ["Anyone","Authenticated","Administrators","Nobody"],
              "default": "Authenticated"
            },
            "delete": {
              "type": "string",
              "enum": ["Anyone","Authenticated","Administrators","Nobody"],
              "default": "Authenticated"
            }
          }
        },
        "changes": {
          "type": "object",
          "properties": {
            "retention": {
              "type": "string",
              "maxLength": 16,
              "default": "1h",
              "x-kubernetes-validations": [
                {
                  "rule": "self.matches('^([0-9]{1,5}[hms]){1,3}$') && duration(self) >= duration('1m') && duration(self) <= duration('24h')",
                  "message": "retention is a duration such as 30m, 1h or 12h30m, from 1m to 24h"
                }
              ]
            },
            "maxEntries": {"type":"integer","format":"int32","minimum":100,"maximum":1000000,"default":100000}
          }
        },
        "deletionPolicy": {"type":"string","enum":["Retain","Delete"]}
      }
    }
  }
};
