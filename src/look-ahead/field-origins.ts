import {
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { isRowType, mappingOf } from '../graphql/field-mapping.ts';
import type { View } from '../loaders/row-store.ts';
import { memoize } from '../memoize.ts';
import { operations } from '../rest/generated/views.ts';
import type { RestOperation } from '../rest/rest-operations.ts';

/** The origin of a field's value. It follows from the directives and types of the schema. */
export type FieldOrigin =
  // The key of its object is enough.
  | { readonly kind: 'free' }
  // A column of its object's row.
  | { readonly kind: 'column'; readonly view: View }
  // An organization that a column of the row names.
  | { readonly kind: 'organizationOf'; readonly view: View }
  // An object that a column of the row names.
  | { readonly kind: 'reference'; readonly view: View; readonly endpoint: RestOperation }
  // The project that owns the object on which the field is selected.
  | { readonly kind: 'owner'; readonly endpoint: RestOperation }
  // An object that the argument `id` names.
  | { readonly kind: 'byId'; readonly endpoint: RestOperation }
  | { readonly kind: 'organization' }
  // Any object by its global id.
  | { readonly kind: 'node' }
  | { readonly kind: 'list'; readonly endpoint: RestOperation }
  // The rows that are added to a list, message by message.
  | { readonly kind: 'tail'; readonly endpoint: RestOperation }
  // A page of a list, answered as one value instead of a connection.
  | { readonly kind: 'table'; readonly endpoint: RestOperation }
  // An object that the argument `id` names, answered as one value.
  | { readonly kind: 'text'; readonly endpoint: RestOperation }
  // A value that is the same in every row of a list.
  | { readonly kind: 'anyRow'; readonly endpoint: RestOperation }
  | { readonly kind: 'report'; readonly endpoint: RestOperation }
  | { readonly kind: 'write'; readonly endpoint: RestOperation };

/** The origin of a field of an object type. */
export const originOf = memoize((field: GraphQLField<unknown, unknown>): FieldOrigin => {
  const { type, column, view, operation } = mappingOf(field);
  const answer = getNamedType(field.type);
  if (operation === undefined) {
    if (column !== undefined && view !== undefined && field.name !== 'id') {
      return { kind: answer.name === 'Organization' ? 'organizationOf' : 'column', view };
    }
    if (isInterfaceType(answer)) return { kind: 'node' };
    return { kind: answer.name === 'Organization' ? 'organization' : 'free' };
  }
  const endpoint = operations[operation];
  // One mutation uses GET, so the HTTP method does not show which fields write.
  if (type === 'Mutation') return { kind: 'write', endpoint };
  if (type === 'Subscription') return { kind: 'tail', endpoint };
  if (endpoint.subpath !== '') return { kind: 'report', endpoint };
  if (endpoint.isRow) {
    if (view !== undefined) return { kind: 'reference', view, endpoint };
    if (isLeafType(answer)) return { kind: 'text', endpoint };
    return field.args.length > 0 ? { kind: 'byId', endpoint } : { kind: 'owner', endpoint };
  }
  if (isConnection(answer)) return { kind: 'list', endpoint };
  return { kind: isRowType(type) ? 'table' : 'anyRow', endpoint };
});

function isConnection(type: GraphQLNamedType): boolean {
  return isObjectType(type) && type.getFields()['pageInfo'] !== undefined;
}
