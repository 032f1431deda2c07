// Converts the valibot schemas of routes to JSON Schema in the dialect of OpenAPI 3.1 (draft
// 2020-12).

import { isDeepStrictEqual } from 'node:util';
import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import { type GenericSchema, ISO_TOO, toInteger } from '../schema.ts';

export type JsonObject = Record<string, unknown>;

/** One path or query parameter. */
export interface Parameter {
  name: string;
  required: boolean;
  schema: JsonObject;
}

const CONFIG: ConversionConfig = {
  target: 'draft-2020-12',
  // Rules that JSON Schema cannot express: there the server is stricter than its description.
  ignoreActions: ['finite', 'check', 'raw_check'],
  overrideSchema: ({ valibotSchema, jsonSchema }) => {
    if (valibotSchema.type === 'union' || valibotSchema.type === 'nullable' || valibotSchema.type === 'nullish') {
      return withoutAlternatives(jsonSchema as JsonObject) as typeof jsonSchema | undefined;
    }
    if (valibotSchema.type === 'tuple') return withItems(jsonSchema as JsonObject) as typeof jsonSchema;
    if (valibotSchema.type === 'loose_object') return { ...jsonSchema, additionalProperties: true };
    return undefined;
  },
  overrideAction: ({ valibotAction, jsonSchema }) => {
    if ((valibotAction as unknown) === toInteger) return { ...jsonSchema, type: 'integer' };
    return (valibotAction as unknown) === ISO_TOO ? { ...jsonSchema, type: ['integer', 'string'] as never } : undefined;
  },
};

/** Returns the schema of the values that a client sends. */
export function bodySchema(schema: GenericSchema): JsonObject {
  return converted(schema, { ...CONFIG, typeMode: 'input' });
}

/** Returns the schema of the values that a client receives. */
export function answerSchema(schema: GenericSchema): JsonObject {
  return converted(schema, { ...CONFIG, typeMode: 'output' });
}

/**
 * Returns the entries of an object schema as parameters. Integers are described as integers,
 * although they are sent as text.
 */
export function parametersOf(schema: GenericSchema | undefined): Parameter[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = converted(schema, CONFIG) as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, one]) => ({ name, required: required.includes(name), schema: one }));
}

function converted(schema: GenericSchema, config: ConversionConfig): JsonObject {
  const { $schema, ...rest } = toJsonSchema(schema, config) as JsonObject;
  return withoutEmpty(rest) as JsonObject;
}

/** Merges `anyOf` of plain types into one schema with several types: equivalent and shorter. */
function withoutAlternatives({ anyOf, ...rest }: JsonObject): JsonObject | undefined {
  const [first, ...others] = anyOf as JsonObject[];
  const isBare = others.every((option) => 'type' in option && Object.keys(option).length === 1);
  if (first === undefined || !isBare || !('type' in first) || 'title' in first) return undefined;
  const types = [first, ...others].flatMap((option) => option.type as string | string[]);
  const values = first.enum as unknown[] | undefined;
  return { ...rest, ...first, type: types, ...(values === undefined ? {} : { enum: [...values, null] }) };
}

/** Gives tuples their length; `items` repeats `prefixItems` for readers that know only `items`. */
function withItems(schema: JsonObject): JsonObject {
  const parts = schema.prefixItems as JsonObject[];
  const distinct = parts.filter((part, at) => parts.findIndex((other) => isDeepStrictEqual(other, part)) === at);
  const items = distinct.length === 1 ? distinct[0] : { anyOf: distinct };
  return { ...schema, items, minItems: parts.length, maxItems: parts.length };
}

/**
 * Drops empty `required` lists, and all `propertyNames`, since these only say that names are
 * strings.
 */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([key, inner]) => !(key === 'required' && Array.isArray(inner) && inner.length === 0) && key !== 'propertyNames',
  );
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutEmpty(inner)]));
}
