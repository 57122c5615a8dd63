import { arrayOf, isObject, type JsonObject, objectOf } from './json.ts';

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string;
  readonly place: 'path' | 'query';
  readonly required: boolean;
  /** How the text in the URL becomes the value that the schema describes. */
  readonly encoding: 'text' | 'integer' | 'json';
  /** True if any integer or text is valid, as its encoding says. */
  readonly isPlain: boolean;
  /** The JSON pointer to its schema. */
  readonly schema: string;
}

/** An operation of the document. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** The JSON pointer to the schema of its body. */
  readonly body: string | undefined;
}

const methods = new Set(['get', 'post', 'put', 'patch', 'delete']);

/** Every operation of the document. */
export function operationsOf(document: JsonObject): Operation[] {
  return Object.entries(objectOf(document.paths)).flatMap(([path, item]) =>
    Object.entries(objectOf(item))
      .filter(([method]) => methods.has(method))
      .map(([method, operation]) => {
        const pointer = `#/paths/${escape(path)}`;
        return {
          id: String(objectOf(operation).operationId),
          method: method.toUpperCase(),
          path,
          parameters: [`${pointer}/parameters`, `${pointer}/${method}/parameters`].flatMap((list) =>
            parametersAt(document, list),
          ),
          body: isObject(objectOf(operation).requestBody)
            ? `${pointer}/${method}/requestBody/content/application~1json/schema`
            : undefined,
        };
      }),
  );
}

function parametersAt(document: JsonObject, pointer: string): Parameter[] {
  return arrayOf(resolve(document, pointer)).map((_, index) => {
    const place = target(document, `${pointer}/${index}`);
    const parameter = objectOf(resolve(document, place));
    const inJson = isObject(parameter.content);
    const schema = `${place}/${inJson ? 'content/application~1json/schema' : 'schema'}`;
    const alternatives = alternativesOf(objectOf(resolve(document, schema)));
    const isInteger = alternatives.some(({ type }) => type === 'integer');
    return {
      name: String(parameter.name),
      place: parameter.in === 'path' ? 'path' : 'query',
      required: parameter.required === true,
      // What may be an integer is one if it looks like one, unless it may be any text.
      encoding: inJson ? 'json' : isInteger ? 'integer' : 'text',
      isPlain: !inJson && alternatives.some((one) => isOnly(one, isInteger ? 'integer' : 'string')),
      schema,
    };
  });
}

function alternativesOf(schema: JsonObject): readonly JsonObject[] {
  return [schema, ...arrayOf(schema.anyOf).map(objectOf)];
}

/** Whether a schema asks for nothing but a type, or one of several. */
function isOnly(schema: JsonObject, type: string): boolean {
  return Object.keys(schema).length === 1 && [schema.type].flat().includes(type);
}

/** Follows a `$ref`, if that is what is at `pointer`. */
function target(document: JsonObject, pointer: string): string {
  const { $ref } = objectOf(resolve(document, pointer));
  return typeof $ref === 'string' ? $ref : pointer;
}

function resolve(document: JsonObject, pointer: string): unknown {
  const steps = pointer
    .slice('#/'.length)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  let value: unknown = document;
  for (const step of steps) value = Array.isArray(value) ? value[Number(step)] : objectOf(value)[step];
  return value;
}

function escape(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}
