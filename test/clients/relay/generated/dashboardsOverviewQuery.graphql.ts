/**
 * @generated SignedSource<<2b59ecb5dafb33addb5d00dd0083188e>>
 * @relayHash 355b5d4e714ebe249476b18c3d2eae30
 * @lightSyntaxTransform
 */

/* tslint:disable */
/* eslint-disable */
// @ts-nocheck

// @relayRequestID 355b5d4e714ebe249476b18c3d2eae30

import type { ConcreteRequest } from 'relay-runtime';
export type dashboardsOverviewQuery$variables = {
  project: string;
};
export type dashboardsOverviewQuery$data = {
  readonly project: {
    readonly name: string | null | undefined;
    readonly timezone: string | null | undefined;
  } | null | undefined;
};
export type dashboardsOverviewQuery = {
  response: dashboardsOverviewQuery$data;
  variables: dashboardsOverviewQuery$variables;
};

const node: ConcreteRequest = (function(){
var v0 = [
  {
    "defaultValue": null,
    "kind": "LocalArgument",
    "name": "project"
  }
],
v1 = [
  {
    "kind": "Variable",
    "name": "id",
    "variableName": "project"
  }
],
v2 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "name",
  "storageKey": null
},
v3 = {
  "alias": null,
  "args": null,
  "kind": "ScalarField",
  "name": "timezone",
  "storageKey": null
};
return {
  "fragment": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Fragment",
    "metadata": null,
    "name": "dashboardsOverviewQuery",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "Project",
        "kind": "LinkedField",
        "name": "project",
        "plural": false,
        "selections": [
          (v2/*:: as any*/),
          (v3/*:: as any*/)
        ],
        "storageKey": null
      }
    ],
    "type": "Query",
    "abstractKey": null
  },
  "kind": "Request",
  "operation": {
    "argumentDefinitions": (v0/*:: as any*/),
    "kind": "Operation",
    "name": "dashboardsOverviewQuery",
    "selections": [
      {
        "alias": null,
        "args": (v1/*:: as any*/),
        "concreteType": "Project",
        "kind": "LinkedField",
        "name": "project",
        "plural": false,
        "selections": [
          (v2/*:: as any*/),
          (v3/*:: as any*/),
          {
            "alias": null,
            "args": null,
            "kind": "ScalarField",
            "name": "id",
            "storageKey": null
          }
        ],
        "storageKey": null
      }
    ]
  },
  "params": {
    "id": "355b5d4e714ebe249476b18c3d2eae30",
    "metadata": {},
    "name": "dashboardsOverviewQuery",
    "operationKind": "query",
    "text": null
  }
};
})();

(node as any).hash = "37d6320d4e7b9607a286aa842d498e7e";

export default node;
