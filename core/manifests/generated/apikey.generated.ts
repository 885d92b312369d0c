// Generated from crds/ by `npm run generate`. Change the CRD, not this file.
import type { ObjectMeta } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";

/**
 * An ApiKey is a random 256-bit key that programs send as "Authorization: apikey <key>". The operator writes it once to a Secret, together with the base URL. Everywhere else only its SHA-256 is stored.
 */
export interface ApiKey {
  readonly apiVersion: "jsonplane.io/v1alpha1";
  readonly kind: "ApiKey";
  readonly metadata: ObjectMeta;
  readonly spec: ApiKeySpec;
  readonly status?: ApiKeyStatus;
}
/**
 * The desired state of the ApiKey.
 */
export interface ApiKeySpec {
  /**
   * The Project that this ApiKey belongs to, in the same namespace. Immutable.
   */
  readonly projectRef: {
    /**
     * metadata.name of the Project. It may be applied before or after this ApiKey.
     */
    readonly name: string;
  };
  /**
   * What the key is for. It appears in the logs with each request that uses the key.
   */
  readonly description?: string;
  /**
   * Users: reaches the objects that access.scope of each ApiResource allows, by default the objects that the caller created. Administrators: reaches every object. Default: Users.
   */
  readonly role: "Users" | "Administrators";
  /**
   * Read: may get and list. Write: may also create, edit and delete. Default: Read.
   */
  readonly access: "Read" | "Write";
  /**
   * The Secret to which the key is written, in the entries apiKey, id and baseURL. Unset: <metadata.name>-api-key. A Secret of that name that jsonplane did not create is left alone. Immutable.
   */
  readonly secretName?: string;
  /**
   * Creates a new key; the former one works until gracePeriod is over.
   */
  readonly rotation?: {
    /**
     * Any name for this key, such as a date. A new id creates a new key. Quote it if it is a number.
     */
    readonly id: string;
    /**
     * How long the former key works after a rotation; 0s ends it at once. At most two keys work at a time. Default: 24h.
     */
    readonly gracePeriod: string;
  };
  /**
   * When the key stops working, such as 2030-12-31T23:59:59Z. Unset: never.
   */
  readonly expiresAt?: string;
}
/**
 * The state that the operator found and reached. Only the operator writes it.
 */
export interface ApiKeyStatus {
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
   * The name of the key in logs. It is not secret.
   */
  readonly keyID?: string;
  /**
   * The Secret to which the key was written.
   */
  readonly secretName?: string;
  /**
   * rotation.id of the present key.
   */
  readonly rotationID?: string;
  /**
   * When the present key was created.
   */
  readonly rotatedAt?: string;
  /**
   * When the former key stops working; absent if there is none.
   */
  readonly previousKeyExpiresAt?: string;
  /**
   * Accepted: the spec is valid, and what it refers to exists. Programmed: every live replica serves it. Ready: both are true. Reconciling and Stalled are present only while they are true. Reconciling: Ready is false and becomes true by itself. Stalled: somebody has to edit something.
   */
  readonly conditions?: readonly ApiKeyCondition[];
}
export interface ApiKeyCondition {
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

export const apiKeySchema: SchemaNode = {
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
      "message": "projectRef is immutable: write the former name again, or delete this ApiKey and create it again for the other project"
    },
    {
      "rule": "(has(self.spec.secretName) ? self.spec.secretName : self.metadata.name + '-api-key') == (has(oldSelf.spec.secretName) ? oldSelf.spec.secretName : oldSelf.metadata.name + '-api-key')",
      "fieldPath": ".spec.secretName",
      "reason": "FieldValueForbidden",
      "message": "secretName is immutable: write the former value again (unset means <metadata.name>-api-key), or create another ApiKey and delete this one"
    },
    {
      "rule": "!has(self.spec.secretName) || self.spec.secretName != self.metadata.name + '-key-hash'",
      "fieldPath": ".spec.secretName",
      "reason": "FieldValueForbidden",
      "message": "secretName is the Secret that keeps the key's hash, choose another name"
    },
    {
      "rule": "self.metadata.name != 'anonymous'",
      "fieldPath": ".metadata.name",
      "reason": "FieldValueForbidden",
      "message": "anonymous is the creator of objects that were made without credentials, choose another name"
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
        "description": {
          "type": "string",
          "maxLength": 256,
          "x-kubernetes-validations": [
            {
              "rule": "self.matches('^[^\\\\x00-\\\\x1f\\\\x7f]*$')",
              "message": "description is one line of text without tabs and other control characters"
            }
          ]
        },
        "role": {
          "type": "string",
          "enum": [
            "Users",
            "Administrators"
          ],
          "default": "Users"
        },
        "access": {
          "type": "string",
          "enum": [
            "Read",
            "Write"
          ],
          "default": "Read"
        },
        "secretName": {
          "type": "string",
          "maxLength": 253,
          "x-kubernetes-validations": [
            {
              "rule": "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",
              "message": "secretName is the name of a Secret: lower-case letters, digits, - and ."
            }
          ]
        },
        "rotation": {
          "type": "object",
          "required": [
            "id"
          ],
          "properties": {
            "id": {
              "type": "string",
              "maxLength": 64,
              "x-kubernetes-validations": [
                {
                  "rule": "self.matches('^[A-Za-z0-9._:-]+$')",
                  "message": "rotation.id may have letters, digits and . _ : -, up to 64 of them"
                }
              ]
            },
            "gracePeriod": {
              "type": "string",
              "maxLength": 16,
              "default": "24h",
              "x-kubernetes-validations": [
                {
                  "rule": "self.matches('^([0-9]{1,5}[hms]){1,3}$') && duration(self) >= duration('0s') && duration(self) <= duration('8760h')",
                  "message": "gracePeriod is a duration such as 90s, 5m or 12h30m, from 0s to 8760h"
                }
              ]
            }
          }
        },
        "expiresAt": {
          "type": "string",
          "format": "date-time",
          "maxLength": 64,
          "x-kubernetes-validations": [
            {
              "rule": "self >= timestamp('2020-01-01T00:00:00Z')",
              "message": "expiresAt is a time of the year 2020 or later, such as 2030-12-31T23:59:59Z"
            }
          ]
        }
      }
    }
  }
};
