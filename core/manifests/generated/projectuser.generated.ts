// Generated from charts/jsonplane/files/crds/ by `npm run generate`. Change the CRD, not this file.
import type { Condition, ObjectMeta } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";

export interface ProjectUser {
  readonly apiVersion: "jsonplane.io/v1alpha1";
  readonly kind: "ProjectUser";
  readonly metadata: ObjectMeta;
  readonly spec: ProjectUserSpec;
  readonly status?: ProjectUserStatus;
}
export interface ProjectUserSpec {
  readonly projectRef: {
    readonly name: string;
  };
  readonly username?: string;
  readonly passwordSecretRef?: {
    readonly name: string;
    readonly key: string;
  };
  readonly role: "Users" | "Administrators";
  readonly access: "Read" | "Write";
  readonly rotation?: {
    readonly id: string;
  };
}
export interface ProjectUserStatus {
  readonly observedGeneration?: number;
  readonly controller?: string;
  readonly liveGeneration?: number;
  readonly username?: string;
  readonly secretName?: string;
  readonly rotationID?: string;
  readonly passwordChangedAt?: string;
  readonly conditions?: readonly Condition[];
}

export const projectUserSchema: SchemaNode = {
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
      "message": "projectRef is immutable: write the former name again, or delete this ProjectUser and create it again for the other project"
    },
    {
      "rule": "(has(self.spec.username) ? self.spec.username : self.metadata.name) == (has(oldSelf.spec.username) ? oldSelf.spec.username : oldSelf.metadata.name)",
      "fieldPath": ".spec.username",
      "reason": "FieldValueForbidden",
      "message": "username (metadata.name where it is unset) is immutable, because objects remember who made them: write the former value again, or create another ProjectUser"
    },
    {
      "rule": "(has(self.spec.username) ? self.spec.username : self.metadata.name) != 'anonymous'",
      "fieldPath": ".spec.username",
      "reason": "FieldValueForbidden",
      "message": "anonymous is the creator of objects that were made without credentials, choose another username"
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
      "x-kubernetes-validations": [
        {
          "rule": "!has(self.passwordSecretRef) || !has(self.rotation)",
          "fieldPath": ".rotation",
          "reason": "FieldValueForbidden",
          "message": "rotation makes a new generated password, and this one comes from passwordSecretRef: change that Secret to change it, and take out one of the two"
        }
      ],
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
        "username": {
          "type": "string",
          "maxLength": 128,
          "x-kubernetes-validations": [
            {
              "rule": "self.matches('^[A-Za-z0-9._@+-]+$')",
              "message": "username may have letters, digits and . _ @ + -, up to 128 of them"
            }
          ]
        },
        "passwordSecretRef": {
          "type": "object",
          "required": ["name"],
          "properties": {
            "name": {
              "type": "string",
              "maxLength": 253,
              "x-kubernetes-validations": [
                {
                  "rule": "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",
                  "message": "passwordSecretRef.name is the name of a Secret: lower-case letters, digits, - and ."
                }
              ]
            },
            "key": {
              "type": "string",
              "default": "password",
              "maxLength": 253,
              "x-kubernetes-validations": [
                {
                  "rule": "self.matches('^[-._A-Za-z0-9]+$')",
                  "message": "passwordSecretRef.key may have letters, digits and - . _"
                }
              ]
            }
          }
        },
        "role": {"type":"string","enum":["Users","Administrators"],"default":"Users"},
        "access": {"type":"string","enum":["Read","Write"],"default":"Read"},
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
            }
          }
        }
      }
    }
  }
};
