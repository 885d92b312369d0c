// Generated from crds/ by `npm run generate`. Change the CRD, not this file.
import type { JsonObject } from "../../config/types.ts";
import type { ObjectMeta } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";

/**
 * An ApiResource is a collection of JSON objects, served at <base URL>/api/<resourceName>: create, get, list, edit and delete, checked against a JSON Schema.
 */
export interface ApiResource {
  readonly apiVersion: "jsonplane.io/v1alpha1";
  readonly kind: "ApiResource";
  readonly metadata: ObjectMeta;
  readonly spec: ApiResourceSpec;
  readonly status?: ApiResourceStatus;
}
/**
 * The desired state of the ApiResource.
 */
export interface ApiResourceSpec {
  /**
   * The Project that this ApiResource belongs to, in the same namespace. Immutable.
   */
  readonly projectRef: {
    /**
     * metadata.name of the Project. It may be applied before or after this ApiResource.
     */
    readonly name: string;
  };
  /**
   * The last part of the collection's path, /api/<resourceName>. Unset: metadata.name. Immutable.
   */
  readonly resourceName?: string;
  /**
   * The JSON Schema (2020-12, or draft-07, -06 or -04 when $schema says so) that every object must match, at most 128 KiB. The fields id and _metadata are made by the service and are not part of it.
   */
  readonly schema: JsonObject;
  /**
   * Fields by which lists of any size can be sorted and filtered. A dot selects a field of a nested object, such as address.city. Two fields with a comma, such as status,created, are one index, for lists that filter by the first field and sort by the second. Unset: every top-level string, number, integer and boolean of the schema, up to 16. An empty list: none. Sorting by id and _metadata.created is always possible.
   */
  readonly indexes?: readonly string[];
  /**
   * Access rules, one per operation. Anyone: no credentials are needed. Authenticated: callers with credentials whose access allows it. Administrators: of these, only those with role Administrators. Nobody: the operation is always refused.
   */
  readonly access: {
    /**
     * Who may POST a new object. Default: Authenticated.
     */
    readonly create: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
    /**
     * Who may get and list objects. Default: Authenticated.
     */
    readonly read: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
    /**
     * Who may PUT and PATCH objects; both need read as well. Default: Authenticated.
     */
    readonly update: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
    /**
     * Who may DELETE objects. Default: Authenticated.
     */
    readonly delete: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
    /**
     * To which objects the access rules apply, for role Users and for callers without credentials. Own: objects that the caller created. All: every object. Administrators always reach every object.
     */
    readonly scope: {
      /**
       * Which objects they can read. Other objects are not in lists and counts. Default: Own.
       */
      readonly read: "Own" | "All";
      /**
       * Which objects they can edit and delete. Default: Own.
       */
      readonly write: "Own" | "All";
    };
  };
  /**
   * How much the collection may contain.
   */
  readonly limits: {
    /**
     * Number of objects; a POST that exceeds it answers 403. Default: 1000000.
     */
    readonly maxObjects: number;
  };
  /**
   * What happens to the stored objects when this ApiResource is deleted. Retain: they are kept for the next ApiResource of the same name. Delete: they are deleted for good. Unset: the Project's deletionPolicy.
   */
  readonly deletionPolicy?: "Retain" | "Delete";
}
/**
 * The state that the operator found and reached. Only the operator writes it.
 */
export interface ApiResourceStatus {
  /**
   * metadata.generation that the conditions describe; -1 until the operator has seen the object.
   */
  readonly observedGeneration?: number;
  /**
   * The installation of jsonplane that looks after the object, as <namespace>/<name of its Lease>. Another one leaves it alone.
   */
  readonly controller?: string;
  /**
   * metadata.generation that is served. It is older than observedGeneration while the newest spec is invalid, because the last good one is still served.
   */
  readonly liveGeneration?: number;
  /**
   * The address of the collection.
   */
  readonly url?: string;
  /**
   * The fields that are indexed.
   */
  readonly indexes?: readonly string[];
  /**
   * The indexes that replicas are building. Until an index is complete, queries that need it are answered by a scan, or refused with 503. A replica starts to build with the first request for the collection, and reports it within some five seconds.
   */
  readonly indexesBuilding?: readonly string[];
  /**
   * Parts of the schema that have no effect, such as unknown keywords, each with its JSON Pointer.
   */
  readonly warnings?: readonly string[];
  /**
   * Accepted: the spec is valid, and what it refers to exists. Programmed: every live replica serves it. Ready: both are true. Reconciling and Stalled are present only while they are true. Reconciling: Ready is false and becomes true by itself. Stalled: somebody has to edit something.
   */
  readonly conditions?: readonly ApiResourceCondition[];
}
export interface ApiResourceCondition {
  /**
   * Accepted, Programmed, Ready, Reconciling or Stalled.
   */
  readonly type: string;
  /**
   * Whether the condition holds.
   */
  readonly status: "True" | "False" | "Unknown";
  /**
   * metadata.generation that this condition describes.
   */
  readonly observedGeneration?: number;
  /**
   * When status last changed.
   */
  readonly lastTransitionTime: string;
  /**
   * The cause in one word, for programs, such as InvalidSchema or ProjectNotFound.
   */
  readonly reason: string;
  /**
   * The cause in a sentence, for people. It contains no secret, no counter and no time.
   */
  readonly message: string;
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
  "required": [
    "spec"
  ],
  "properties": {
    "apiVersion": {
      "type": "string"
    },
    "kind": {
      "type": "string"
    },
    "metadata": {
      "type": "object",
      "properties": {
        "name": {
          "type": "string",
          "maxLength": 63
        }
      }
    },
    "spec": {
      "type": "object",
      "required": [
        "projectRef",
        "schema"
      ],
      "properties": {
        "projectRef": {
          "type": "object",
          "required": [
            "name"
          ],
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
              "additionalProperties": {
                "type": "object",
                "nullable": true,
                "x-kubernetes-preserve-unknown-fields": true
              }
            }
          }
        },
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
                "message": "id and _metadata.created can always be sorted by, leave them out of indexes"
              }
            ]
          }
        },
        "access": {
          "type": "object",
          "default": {},
          "properties": {
            "create": {
              "type": "string",
              "enum": [
                "Anyone",
                "Authenticated",
                "Administrators",
                "Nobody"
              ],
              "default": "Authenticated"
            },
            "read": {
              "type": "string",
              "enum": [
                "Anyone",
                "Authenticated",
                "Administrators",
                "Nobody"
              ],
              "default": "Authenticated"
            },
            "update": {
              "type": "string",
              "enum": [
                "Anyone",
                "Authenticated",
                "Administrators",
                "Nobody"
              ],
              "default": "Authenticated"
            },
            "delete": {
              "type": "string",
              "enum": [
                "Anyone",
                "Authenticated",
                "Administrators",
                "Nobody"
              ],
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
                "read": {
                  "type": "string",
                  "enum": [
                    "Own",
                    "All"
                  ],
                  "default": "Own"
                },
                "write": {
                  "type": "string",
                  "enum": [
                    "Own",
                    "All"
                  ],
                  "default": "Own"
                }
              }
            }
          }
        },
        "limits": {
          "type": "object",
          "default": {},
          "properties": {
            "maxObjects": {
              "type": "integer",
              "format": "int64",
              "minimum": 1,
              "maximum": 1000000000,
              "default": 1000000
            }
          }
        },
        "deletionPolicy": {
          "type": "string",
          "enum": [
            "Retain",
            "Delete"
          ]
        }
      }
    }
  }
};
