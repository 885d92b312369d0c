// All mutations, in the order in which they are tried.

import { accessMutations } from "./changes/access.ts";
import { answerMutations } from "./changes/answers.ts";
import { devMutations } from "./changes/dev.ts";
import { externalIssuerMutations } from "./changes/external-issuers.ts";
import { fetchedIssuerMutations } from "./changes/fetched-issuers.ts";
import { guardRailMutations } from "./changes/guard-rails.ts";
import { installationMutations } from "./changes/installations.ts";
import { issuerSignInMutations } from "./changes/issuer-sign-in.ts";
import { keptDataMutations } from "./changes/kept-data.ts";
import { leaderMutations } from "./changes/leader.ts";
import { limitMutations } from "./changes/limits.ts";
import { lossMutations } from "./changes/losses.ts";
import { operatorMutations } from "./changes/operator.ts";
import { operatorFaultMutations } from "./changes/operator-faults.ts";
import { operatorScaleMutations } from "./changes/operator-scale.ts";
import { ownersMutations } from "./changes/owners.ts";
import { planMutations } from "./changes/plans.ts";
import { statusMutations } from "./changes/statuses.ts";
import { storeMutations } from "./changes/store.ts";
import { storedObjectsMutations } from "./changes/stored-objects.ts";
import type { Mutation } from "./mutation.ts";

export const mutations: readonly Mutation[] = [
  ...storeMutations,
  ...ownersMutations,
  ...accessMutations,
  ...externalIssuerMutations,
  ...issuerSignInMutations,
  ...answerMutations,
  ...operatorMutations,
  ...leaderMutations,
  ...statusMutations,
  ...devMutations,
  ...installationMutations,
  ...keptDataMutations,
  ...lossMutations,
  ...planMutations,
  ...limitMutations,
  ...operatorFaultMutations,
  ...operatorScaleMutations,
  ...guardRailMutations,
  ...storedObjectsMutations,
  ...fetchedIssuerMutations,
];
