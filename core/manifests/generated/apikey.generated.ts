// Generated from charts/jsonplane/files/crds/ by `npm run generate`. Change the CRD, not this file.
import type { Condition, ObjectMeta } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";

export interface ApiKey {
  readonly apiVersion: "jsonplane.io/v1alpha1";
  readonly kind: "ApiKey";
  readonly metadata: ObjectMeta;
  readonly spec: ApiKeySpec;
  readonly status?: ApiKeyStatus;
}
export interface ApiKeySpec {
  readonly projectRef: {
    readonly name: string;
  };
  readonly description?: string;
  readonly role: "Users" | "Administrators";
  readonly access: "Read" | "Write";
  readonly secretName?: string;
  readonly rotation?: {
    readonly id: string;
    readonly gracePeriod: string;
  };
  readonly expiresAt?: string;
}
export interface ApiKeyStatus {
  readonly observedGeneration?: number;
  readonly controller?: string;
  readonly liveGeneration?: number;
  readonly keyID?: string;
  readonly secretName?: string;
  readonly rotationID?: string;
  readonly rotatedAt?: string;
  readonly previousKeyExpiresAt?: string;
  readonly conditions?: readonly Condition[];
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
      "rule": "self.metadata.name != 'anonymous'",
      "fieldPath": ".metadata.name",
      "reason": "FieldValueForbidden",
      "message": "anonymous is the creator of objects that were made without credentials, choose another name"
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
        "role": {"type":"string","enum":["Users","Administrators"],"default":"Users"},
        "access": {"type":"string","enum":["Read","Write"],"default":"Read"},
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
          "required": ["id"],
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
