// Generated from crds/ by `npm run generate`. Change the CRD, not this file.
import type { Json } from "../../config/types.ts";
import type { ObjectMeta } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";

/**
 * A RootKey is one JSON document, served at <base URL>/json/<key>. Further path segments (object keys and array indices) address any part of it.
 */
export interface RootKey {
  readonly apiVersion: "jsonplane.io/v1alpha1";
  readonly kind: "RootKey";
  readonly metadata: ObjectMeta;
  readonly spec: RootKeySpec;
  readonly status?: RootKeyStatus;
}
/**
 * The desired state of the RootKey.
 */
export interface RootKeySpec {
  /**
   * The Project that this RootKey belongs to, in the same namespace. Immutable.
   */
  readonly projectRef: {
    /**
     * metadata.name of the Project. It may be applied before or after this RootKey.
     */
    readonly name: string;
  };
  /**
   * The first part of the document's path, /json/<key>. Unset: metadata.name. Immutable.
   */
  readonly key?: string;
  /**
   * The document while nothing is stored: any JSON. Unset: {}. Once something is stored, initialValue is ignored. Kubernetes sorts its keys and writes 1.0 as 1; integers beyond 9007199254740991 are refused.
   */
  readonly initialValue?: Json;
  /**
   * Access rules, one per operation. Anyone: no credentials are needed. Authenticated: callers with credentials whose access allows it. Administrators: of these, only those with role Administrators. Nobody: the operation is always refused.
   */
  readonly access: {
    /**
     * Who may POST a new key or array element. Default: Authenticated.
     */
    readonly create: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
    /**
     * Who may GET the document and its parts. Default: Anyone.
     */
    readonly read: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
    /**
     * Who may PUT and PATCH. A PUT or PATCH that adds a key needs create as well; a PATCH also needs read. Default: Authenticated.
     */
    readonly update: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
    /**
     * Who may DELETE keys and array elements. Default: Authenticated.
     */
    readonly delete: "Anyone" | "Authenticated" | "Administrators" | "Nobody";
  };
  /**
   * What happens to the stored document when this RootKey is deleted. Retain: it is kept for the next RootKey of the same name. Delete: it is deleted for good. Unset: the Project's deletionPolicy.
   */
  readonly deletionPolicy?: "Retain" | "Delete";
}
/**
 * The state that the operator found and reached. Only the operator writes it.
 */
export interface RootKeyStatus {
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
   * The address of the document.
   */
  readonly url?: string;
  /**
   * Accepted: the spec is valid, and what it refers to exists. Programmed: every live replica serves it. Ready: both are true. Reconciling and Stalled are present only while they are true. Reconciling: Ready is false and becomes true by itself. Stalled: somebody has to edit something.
   */
  readonly conditions?: readonly RootKeyCondition[];
}
export interface RootKeyCondition {
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
        "projectRef"
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
        "initialValue": {
          "nullable": true,
          "x-kubernetes-preserve-unknown-fields": true
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
              "default": "Anyone"
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
