// Generated from charts/jsonplane/files/crds/ by `npm run generate`. Change the CRD, not this file.
import type { Json, JsonObject } from "../../config/types.ts";
import type { Condition, ObjectMeta } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";

export interface ApiResource {
  readonly apiVersion: "jsonplane.io/v1alpha1";
  readonly kind: "ApiResource";
  readonly metadata: ObjectMeta;
  readonly spec: ApiResourceSpec;
  readonly status?: ApiResourceStatus;
}
export interface ApiResourceSpec {
  readonly projectRef: {
    readonly name: string;
  };
  readonly resourceName?: string;
  readonly schema: JsonObject;
  readonly defaults: "Describe" | "Apply";
  readonly indexes?: readonly string[];
  readonly unique?: {
    readonly fields: readonly string[];
    readonly ignoreCase: boolean;
    readonly per?: "Owner";
    readonly where?: {};
  }[];
  readonly access: {
    readonly create: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
    readonly read: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
    readonly update: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
    readonly delete: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
    readonly scope: {
      readonly read: "Own" | "All";
      readonly write: "Own" | "All";
    };
  };
  readonly limits: {
    readonly maxObjects: number;
  };
  readonly changes?: {
    readonly retention: string;
    readonly maxEntries: number;
  };
  readonly schemaChange?: {
    readonly updates: "Whole" | "Ratchet";
    readonly storedObjects?: "Report" | "Refuse";
    readonly migrate?: {
      readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test" | "increment";
      readonly path: string;
      readonly from?: string;
      readonly value?: Json;
      readonly by?: number;
      readonly min?: number;
      readonly max?: number;
    }[];
  };
  readonly expiry?: {
    readonly field?: string;
    readonly after?: string;
  };
  readonly deletionPolicy?: "Retain" | "Delete";
}
export interface ApiResourceStatus {
  readonly observedGeneration?: number;
  readonly controller?: string;
  readonly liveGeneration?: number;
  readonly url?: string;
  readonly indexes?: readonly string[];
  readonly indexesBuilding?: readonly string[];
  readonly storedObjects?: {
    readonly observedGeneration: number;
    readonly schema: string;
    readonly checked: number;
    readonly invalid: number;
    readonly migrated?: number;
    readonly examples?: {
      readonly id: string;
      readonly pointer: string;
      readonly keyword: string;
    }[];
    readonly checkedAt: string;
  };
  readonly warnings?: readonly string[];
  readonly conditions?: readonly Condition[];
}

export const apiResourceSchema: SchemaNode = {
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
      "message": "projectRef is immutable: write the former name again, or delete this ApiResource and create it again for the other project"
    },
    {
      "rule": "(has(self.spec.resourceName) ? self.spec.resourceName : self.metadata.name) == (has(oldSelf.spec.resourceName) ? oldSelf.spec.resourceName : oldSelf.metadata.name)",
      "fieldPath": ".spec.resourceName",
      "reason": "FieldValueForbidden",
      "message": "resourceName (metadata.name where it is unset) is immutable: write the former value again, or delete this ApiResource and create one of the other name"
    }
  ],
  "required": ["spec"],
  "properties": {
    "apiVersion": {"type":"string"},
    "kind": {"type":"string"},
    "metadata": {"type":"object","properties":{"name":{"type":"string","maxLength":63}}},
    "spec": {
      "type": "object",
      "required": ["projectRef","schema"],
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
        "resourceName": {
          "type": "string",
          "maxLength": 63,
          "x-kubernetes-validations": [
            {
              "rule": "self.matches('^[A-Za-z0-9][A-Za-z0-9_-]*$')",
              "message": "resourceName may have letters, digits, - and _, up to 63 of them, and starts with a letter or digit, such as books or order-items"
            }
          ]
        },
        "schema": {
          "type": "object",
          "x-kubernetes-preserve-unknown-fields": true,
          "x-kubernetes-map-type": "atomic",
          "properties": {
            "properties": {
              "type": "object",
              "maxProperties": 1000,
              "x-kubernetes-validations": [
                {
                  "rule": "!('id' in self) && !('_metadata' in self)",
                  "reason": "FieldValueForbidden",
                  "message": "id and _metadata are made by the service and come with every object: take them out of schema.properties"
                },
                {
                  "rule": "!['_sort', '_limit', '_offset', '_fields', '_count', '_cursor'].exists(name, name in self)",
                  "reason": "FieldValueForbidden",
                  "message": "_sort, _limit, _offset, _fields, _count and _cursor are query parameters of lists: give the field another name"
                }
              ],
              "additionalProperties": {"type":"object","nullable":true,"x-kubernetes-preserve-unknown-fields":true}
            }
          }
        },
        "defaults": {"type":"string","enum":["Describe","Apply"],"default":"Describe"},
        "indexes": {
          "type": "array",
          "maxItems": 16,
          "x-kubernetes-list-type": "set",
          "items": {
            "type": "string",
            "minLength": 1,
            "maxLength": 513,
            "x-kubernetes-validations": [
              {
                "rule": "self != 'id' && self != '_metadata' && !self.startsWith('_metadata.')",
                "reason": "FieldValueForbidden",
                "message": "only fields of the schema can be indexed, so leave id and _metadata out; sorting by id and _metadata.created needs no index"
              }
            ]
          }
        },
        "unique": {
          "type": "array",
          "maxItems": 8,
          "x-kubernetes-list-type": "atomic",
          "items": {
            "type": "object",
            "required": ["fields"],
            "properties": {
              "fields": {
                "type": "array",
                "minItems": 1,
                "maxItems": 3,
                "x-kubernetes-list-type": "set",
                "items": {"type":"string","minLength":1,"maxLength":256}
              },
              "ignoreCase": {"type":"boolean","default":false},
              "per": {"type":"string","enum":["Owner"]},
              "where": {
                "type": "object",
                "minProperties": 1,
                "maxProperties": 4,
                "additionalProperties": {"nullable":true,"x-kubernetes-preserve-unknown-fields":true}
              }
            }
          }
        },
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
              "default": "Authenticated"
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
            },
            "scope": {
              "type": "object",
              "default": {},
              "x-kubernetes-validations": [
                {
                  "rule": "!has(self.write) || self.write == 'Own' || (has(self.read) && self.read == 'All')",
                  "message": "scope.write: All needs scope.read: All, because who edits an object is shown it"
                }
              ],
              "properties": {
                "read": {"type":"string","enum":["Own","All"],"default":"Own"},
                "write": {"type":"string","enum":["Own","All"],"default":"Own"}
              }
            }
          }
        },
        "limits": {
          "type": "object",
          "default": {},
          "properties": {
            "maxObjects": {"type":"integer","format":"int64","minimum":1,"maximum":1000000000,"default":1000000}
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
        "schemaChange": {
          "type": "object",
          "x-kubernetes-validations": [
            {
              "rule": "!has(self.migrate) || (has(self.storedObjects) && self.storedObjects == 'Refuse')",
              "message": "migrate needs storedObjects: Refuse"
            }
          ],
          "properties": {
            "updates": {"type":"string","enum":["Whole","Ratchet"],"default":"Whole"},
            "storedObjects": {"type":"string","enum":["Report","Refuse"]},
            "migrate": {
              "type": "array",
              "maxItems": 50,
              "x-kubernetes-list-type": "atomic",
              "items": {
                "type": "object",
                "required": ["op","path"],
                "properties": {
                  "op": {
                    "type": "string",
                    "enum": ["add","remove","replace","move","copy","test","increment"]
                  },
                  "path": {"type":"string","maxLength":1024},
                  "from": {"type":"string","maxLength":1024},
                  "value": {"nullable":true,"x-kubernetes-preserve-unknown-fields":true},
                  "by": {"type":"number"},
                  "min": {"type":"number"},
                  "max": {"type":"number"}
                }
              }
            }
          }
        },
        "expiry": {
          "type": "object",
          "x-kubernetes-validations": [
            {
              "rule": "has(self.field) != has(self.after)",
              "message": "set one of the two: field, such as expiresAt, or after, such as 720h"
            }
          ],
          "properties": {
            "field": {"type":"string","minLength":1,"maxLength":513},
            "after": {
              "type": "string",
              "maxLength": 16,
              "x-kubernetes-validations": [
                {
                  "rule": "self.matches('^([0-9]{1,5}[hms]){1,3}$') && duration(self) >= duration('1m') && duration(self) <= duration('87600h')",
                  "message": "after is a duration such as 30m, 24h or 720h, from 1m to 87600h"
                }
              ]
            }
          }
        },
        "deletionPolicy": {"type":"string","enum":["Retain","Delete"]}
      }
    }
  }
};
