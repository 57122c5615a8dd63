import { arrayOf, isObject, type JsonObject, objectOf } from './json.ts';

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string;
  readonly place: 'path' | 'query';
  readonly required: boolean;
  /** The conversion of the text in the URL to the value that the schema describes. */
  readonly encoding: 'text' | 'integer' | 'json';
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
    return {
      name: String(parameter.name),
      place: parameter.in === 'path' ? 'path' : 'query',
      required: parameter.required === true,
      encoding: inJson ? 'json' : encodingOf(objectOf(resolve(document, schema))),
      schema,
    };
  });
}

/** `integer` if the schema allows an integer: text that looks like one becomes one. */
function encodingOf(schema: JsonObject): 'text' | 'integer' {
  const alternatives = [schema, ...arrayOf(schema.anyOf).map(objectOf)];
  return alternatives.some(({ type }) => type === 'integer') ? 'integer' : 'text';
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
