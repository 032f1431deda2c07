// Replaces dist/client/types.d.ts, the types of the built client, by a file of plain types. The
// file that `tsc` writes infers each type from a schema of the routes, which adds seconds to the
// type check of each program that imports the client. Plain types, with the schemas' descriptions
// as comments, cost next to nothing. `plain-types.test.ts` checks that both are the same.

import { readFileSync, writeFileSync } from 'node:fs';

const dist = new URL('../../dist/', import.meta.url);
const INFERRED = /\bInfer(Input|Output)<typeof (\w+)\.(\w+)>/g;

const source = readFileSync(new URL('../client/types.ts', import.meta.url), 'utf8');
const modules = {};
for (const [, name, path] of source.matchAll(/^import type \* as (\w+) from '\.\.\/(routes\/schemas\/[\w-]+)\.ts';$/gm))
  modules[name] = await import(new URL(`${path}.js`, dist));

const types = source
  .split('\n')
  .filter((line) => line.startsWith('export type '))
  .map((line) => line.replaceAll(INFERRED, (_, direction, room, name) => typeOf(modules[room][name], direction === 'Input', '')));
const rest = types.join('').match(/\bInfer\w+</);
if (types.length < 50 || rest !== null) throw new Error(`client/types.ts has a form that cannot be written out: ${rest}`);
writeFileSync(
  new URL('client/types.d.ts', dist),
  `// Written by src/client/plain-types.mjs: the values the API takes and gives.\n\n${types.join('\n')}\n`,
);

/**
 * Returns the TypeScript type of a schema's values: as requests send them if `isInput`, else as
 * validation returns them.
 */
function typeOf(schema, isInput, indent) {
  const given = (one) => typeOf(one, isInput, indent);
  if (isTransformed(schema)) {
    // The schemas have a single transformation, `toInteger`.
    if (schema.type !== 'string') throw new Error(`a transformation of ${schema.type} has no known result`);
    return isInput ? 'string' : 'number';
  }
  switch (schema.type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'unknown':
    case 'null':
      return schema.type;
    case 'literal':
      return JSON.stringify(schema.literal);
    case 'picklist':
      return `(${schema.options.map((option) => JSON.stringify(option)).join(' | ')})`;
    case 'nullable':
      return `(${given(schema.wrapped)} | null)`;
    case 'nullish':
      return `(${given(schema.wrapped)} | null | undefined)`;
    case 'optional':
      return `(${given(schema.wrapped)} | undefined)`;
    case 'union':
    case 'variant':
      return `(${schema.options.map(given).join(' | ')})`;
    case 'array':
      return `${given(schema.item)}[]`;
    case 'tuple':
      return `[${schema.items.map(given).join(', ')}]`;
    case 'record':
      return `{ [key: string]: ${given(schema.value)} }`;
    case 'object':
      return objectType(schema, isInput, indent);
    case 'loose_object':
      return `(${objectType(schema, isInput, indent)} & { [key: string]: unknown })`;
    case 'object_with_rest':
      return `(${objectType(schema, isInput, indent)} & { [key: string]: ${given(schema.rest)} })`;
    default:
      throw new Error(`plain-types.mjs does not know schemas of the type ${schema.type}`);
  }
}

function isTransformed({ pipe = [] }) {
  return pipe.some((item) => item.kind === 'transformation' || (item.kind === 'schema' && isTransformed(item)));
}

function objectType({ entries }, isInput, indent) {
  const inner = `${indent}    `;
  const fields = Object.entries(entries).map(([key, field]) => {
    const mayMiss = ['optional', 'nullish'].includes(field.type) && (isInput || field.default === undefined);
    const sentence = sentenceOf(field);
    const comment = sentence === undefined ? '' : `${inner}/** ${sentence.replaceAll('*/', '* /')} */\n`;
    const name = /^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key);
    return `${comment}${inner}${name}${mayMiss ? '?' : ''}: ${typeOf(field, isInput, inner)};\n`;
  });
  return fields.length === 0 ? '{}' : `{\n${fields.join('')}${indent}}`;
}

/** Returns the description of the schema itself, or else of the schema that it wraps. */
function sentenceOf({ pipe, wrapped }) {
  const found = pipe?.findLast(({ type }) => type === 'description')?.description;
  const inner = wrapped ?? pipe?.[0];
  return found ?? (inner === undefined ? undefined : sentenceOf(inner));
}
