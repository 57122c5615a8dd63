/**
 * @generated SignedSource<<53d5cd1c6c94af2538039fa0db39d6eb>>
 * @relayHash 2a03dcecc774e316f150a4767d5324da
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID 2a03dcecc774e316f150a4767d5324da

import type { ConcreteRequest } from 'relay-runtime';
import type { FragmentRefs } from "relay-runtime";
export type RestrictionLevel = "EVERYONE_CAN_EDIT" | "ONLY_INVITED_CAN_EDIT" | "UNKNOWN" | "%future added value";
export type UpdateDashboardInput = {
  deleteInsights?: boolean | null | undefined;
  deleted?: boolean | null | undefined;
  description?: string | null | undefined;
  extra?: unknown | null | undefined;
  filters?: unknown | null | undefined;
  id: string;
  name?: string | null | undefined;
  pinned?: boolean | null | undefined;
  projectId?: string | null | undefined;
  restrictionLevel?: RestrictionLevel | null | undefined;
  tags?: ReadonlyArray<string | null | undefined> | null | undefined;
};
export type dashboardsDescribeMutation$variables = {
  input: UpdateDashboardInput;
};
export type dashboardsDescribeMutation$data = {
  readonly updateDashboard: {
    readonly dashboard: {
      readonly description: string | null | undefined;
      readonly id: string;
      readonly " $fragmentSpreads": FragmentRefs<"dashboards_dashboard">;
    };
  } | null | undefined;
};
export type dashboardsDescribeMutation = {
  response: dashboardsDescribeMutation$data;
  variables: dashboardsDescribeMutation$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "input"
  }
],
v1 = [
  {
    "kind": "Variable",
    "name": "input",
    "variableName": "input"
  }
],
v2 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "id",
  "storageKey": null
},
v3 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "description",
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "dashboardsDescribeMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "UpdateDashboardPayload",
        "kind": "LinkedField",
        "name": "updateDashboard",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "Dashboard",
            "kind": "LinkedField",
            "name": "dashboard",
            "plural": false,
            "selections": [
              (v2/*:: as any*/),
              (v3/*:: as any*/),
              {
                "args": null,
                "kind": "FragmentSpread",
                "name": "dashboards_dashboard"
              }
            ],
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ],
    "type": "Mutation",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "dashboardsDescribeMutation",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "UpdateDashboardPayload",
        "kind": "LinkedField",
        "name": "updateDashboard",
        "plural": false,
        "selections": [
          {
            "alias": null,
            "args": null,
            "concreteType": "Dashboard",
            "kind": "LinkedField",
            "name": "dashboard",
            "plural": false,
            "selections": [
              (v2/*:: as any*/),
              (v3/*:: as any*/),
              {
                "alias": null,
                "args": null,
                "kind": "ScalarField",
                "name": "name",
                "storageKey": null
              }
            ],
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "id": "2a03dcecc774e316f150a4767d5324da",
    "metadata": {},
    "name": "dashboardsDescribeMutation",
    "operationKind": "mutation",
    "text": null
  }
};
})();

(node as any).hash = "c82e02313aef11c95d98c0c24a302382";

export default node;
