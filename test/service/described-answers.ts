// Checks an answer against the served OpenAPI document: status, headers, content type and body.
// Anything that the document does not describe is a fault.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Answered } from './valid-requests.ts';

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document, walked freely.
type Json = any;

export interface Operation {
  id: string;
  method: string;
  path: string;
  /** Descriptions of the answers, by status. */
  responses: Readonly<Record<string, Json>>;
}

/** Headers of HTTP itself, which need no description. */
const OF_HTTP: ReadonlySet<string> = new Set([
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-security-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'content-type',
  'date',
  'keep-alive',
  'referrer-policy',
  'transfer-encoding',
  'uwebsockets',
  'vary',
  'x-content-type-options',
]);

export class DescribedApi {
  readonly operations: readonly Operation[];
  readonly #document: Json;
  readonly #ajv: Ajv2020;
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(document: Json) {
    this.#document = document;
    this.operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Json>(methods).map(([method, { operationId, responses }]) => ({
        id: operationId as string,
        method: method.toUpperCase(),
        path,
        responses,
      })),
    );
    this.#ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(closed(document), 'document');
  }

  /**
   * Returns every deviation of the answer from its description. The list is empty if it conforms.
   */
  faults({ path, method, responses }: Operation, answer: Answered): string[] {
    const at = ['paths', path, method.toLowerCase(), 'responses', String(answer.status)];
    if (responses[answer.status] === undefined) return [`status ${answer.status} is not described`];
    const response = this.#resolve(at);
    return [...this.#headerFaults(response.at, answer.headers), ...this.#bodyFaults(response.at, answer)];
  }

  /** Returns every deviation of a value from the schema at this place of the document. */
  valueFaults(at: readonly string[], value: unknown): string[] {
    return this.#schemaFaults(at, value);
  }

  #headerFaults(at: readonly string[], headers: Headers): string[] {
    const described: Json = this.#value([...at, 'headers']) ?? {};
    const faults: string[] = [];
    for (const name of Object.keys(described)) {
      const header = this.#resolve([...at, 'headers', name]);
      const text = headers.get(name);
      const isNumber = header.value.schema.type === 'integer';
      if (text === null) {
        if (header.value.required === true) faults.push(`header ${name} is missing`);
      } else {
        const value = isNumber && /^-?\d+$/.test(text) ? Number(text) : text;
        faults.push(...this.#schemaFaults([...header.at, 'schema'], value).map((fault) => `header ${name}: ${fault}`));
      }
    }
    const known = new Set(Object.keys(described).map((name) => name.toLowerCase()));
    for (const [name] of headers) {
      if (!known.has(name) && !OF_HTTP.has(name)) faults.push(`header ${name} is not described`);
    }
    return faults;
  }

  #bodyFaults(at: readonly string[], { headers, text }: Answered): string[] {
    const content: Json = this.#value([...at, 'content']);
    if (content === undefined) return text === '' ? [] : ['there is a body'];
    const type = (headers.get('content-type') ?? '').replace(/;.*/, '');
    if (content[type] === undefined) return [`content type ${type} is not described`];
    const place = [...at, 'content', type];
    if ('x-line-schema' in content[type]) {
      const lines = text.split('\n').slice(0, -1);
      return lines.flatMap((line) => this.#schemaFaults([...place, 'x-line-schema'], JSON.parse(line)));
    }
    return this.#schemaFaults([...place, 'schema'], type === 'application/json' ? JSON.parse(text) : text);
  }

  #schemaFaults(at: readonly string[], value: unknown): string[] {
    const pointer = `document#/${at.map(escaped).join('/')}`;
    let validate = this.#compiled.get(pointer);
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: pointer });
      this.#compiled.set(pointer, validate);
    }
    if (validate(value)) return [];
    return validate.errors!.map((error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`);
  }

  /**
   * Returns a place and its value or, if the value is a reference, its target's place and value.
   */
  #resolve(at: readonly string[]): { at: readonly string[]; value: Json } {
    const value = this.#value(at);
    if (typeof value?.$ref !== 'string') return { at, value };
    return this.#resolve(value.$ref.slice(2).split('/'));
  }

  #value(at: readonly string[]): Json {
    return at.reduce((value, key) => value?.[key], this.#document);
  }
}

function escaped(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/**
 * Returns the document with `additionalProperties: false` in every object schema that lists
 * properties and does not set it, so that a field without a description is a fault.
 */
function closed(value: Json): Json {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, closed(one)]));
  const isObject = value.type === 'object' && typeof value.properties === 'object';
  return isObject && !('additionalProperties' in value) ? { ...inner, additionalProperties: false } : inner;
}
