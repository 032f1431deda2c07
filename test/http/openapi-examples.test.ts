import { describe, expect, test } from 'vitest';
import { STATUS_OF_CODE } from '../../src/errors.ts';
import { v } from '../../src/http/schema.ts';
import { documentText } from '../../src/routes/description.ts';
import { EXAMPLES } from '../../src/routes/examples/index.ts';
import { routes } from '../../src/routes/index.ts';
import { OPERATION_TEXTS } from '../../src/routes/operation-texts.ts';
import { DescribedApi } from '../service/described-answers.ts';

// biome-ignore lint/suspicious/noExplicitAny: the document is walked freely.
type Json = any;

const document: Json = JSON.parse(documentText({ routes, version: '1.2.3' }));
const api = new DescribedApi(document);
const JSON_TYPE = 'application/json';
const NDJSON_TYPE = 'application/x-ndjson';

interface Body {
  /**
   * The operation, the status and the content type, for example `runQuery 200 application/json`.
   */
  name: string;
  id: string;
  at: string[];
  type: string;
  content: Json;
}

/** Lists every body in the document: requests, and responses with a status below 400. */
const bodies: Body[] = routes.flatMap(({ id, method, path }) => {
  const at = ['paths', path, method.toLowerCase()];
  const operation = document.paths[path][method.toLowerCase()];
  const places: [string, string[], Json][] = Object.entries<Json>(operation.responses)
    .filter(([status]) => Number(status) < 400)
    .map(([status, { content }]) => [status, [...at, 'responses', status, 'content'], content ?? {}]);
  if (operation.requestBody) places.push(['body', [...at, 'requestBody', 'content'], operation.requestBody.content]);
  return places.flatMap(([place, where, content]) =>
    Object.keys(content).map((type) => ({
      name: `${id} ${place} ${type}`,
      id,
      at: [...where, type],
      type,
      content: content[type],
    })),
  );
});

test('the description of every operation consists of sentences and differs from its summary', () => {
  expect(Object.keys(OPERATION_TEXTS).sort()).toEqual(routes.map(({ id }) => id).sort());
  for (const { id, summary, path, method } of routes) {
    const { description } = document.paths[path][method.toLowerCase()];
    expect(description, id).toBe(OPERATION_TEXTS[id]);
    expect(description, id).toMatch(/^[A-Z].{30,}\.$/s);
    expect(description, id).not.toBe(summary);
  }
});

describe('examples', () => {
  test('exist for every body', () => {
    expect(bodies.length).toBeGreaterThan(70);
    // A file of the console or of the API page is exempt: it has one example for all its types.
    const isFile = ({ id }: Body) => id.endsWith('File');
    expect(bodies.filter((body) => !isFile(body) && !('example' in body.content)).map(({ name }) => name)).toEqual([]);
  });

  test('belong to operations that exist', () => {
    const ids = new Set(routes.map(({ id }) => id));
    expect(Object.keys(EXAMPLES).filter((id) => !ids.has(id))).toEqual([]);
  });

  test.each(bodies.filter(({ content }) => 'example' in content).map((body) => [body.name, body] as const))(
    'match their schema and have no other field: %s',
    (_, { at, type, content: { example } }) => {
      if (type !== NDJSON_TYPE) {
        expect(api.valueFaults([...at, 'schema'], example)).toEqual([]);
        return;
      }
      expect(example).toMatch(/^(\{.*\}\n)+$/);
      const lines = example
        .trimEnd()
        .split('\n')
        .map((line: string) => JSON.parse(line));
      for (const line of lines) expect(api.valueFaults([...at, 'x-line-schema'], line)).toEqual([]);
    },
  );

  test('are accepted by the routes when they are requests', () => {
    const refused = bodies
      .filter(({ name, type }) => name.includes(' body ') && type === JSON_TYPE)
      .filter(({ id, content }) => {
        const schema = routes.find((route) => route.id === id)!.schemas.body!;
        return !v.safeParse(schema, content.example).success;
      });
    expect(refused.map(({ name }) => name)).toEqual([]);
  });

  test('have the status under which they are listed if they are errors', () => {
    const statuses = Object.entries<Json>(document.components.responses);
    expect(statuses.length).toBeGreaterThan(10);
    for (const [name, { content }] of statuses) {
      const { example } = content[JSON_TYPE];
      expect(`Error${example.status}`).toBe(name);
      expect(STATUS_OF_CODE[example.code as keyof typeof STATUS_OF_CODE], name).toBe(example.status);
      expect(api.valueFaults(['components', 'schemas', 'Error'], example)).toEqual([]);
    }
  });

  test('are reported when they are wrong', () => {
    const { at, content } = bodies.find(({ name }) => name === `getTable 200 ${JSON_TYPE}`)!;
    expect(api.valueFaults([...at, 'schema'], { ...content.example, more: 1 })).not.toEqual([]);
    expect(api.valueFaults([...at, 'schema'], { ...content.example, name: 5 })).not.toEqual([]);
  });
});

test('NDJSON bodies are described as text, and the type of their lines has a name', () => {
  const streams = bodies.filter(({ type }) => type === NDJSON_TYPE);
  expect(streams.map(({ name, content }) => [name, content['x-line-schema'].$ref.split('/').at(-1)])).toEqual([
    [`runQuery 200 ${NDJSON_TYPE}`, 'QueryRow'],
    [`rangeHyperedges 200 ${NDJSON_TYPE}`, 'Hyperedge'],
    [`insertHyperedge body ${NDJSON_TYPE}`, 'NewHyperedge'],
    [`lookupNode 200 ${NDJSON_TYPE}`, 'Hyperedge'],
    [`listNodes 200 ${NDJSON_TYPE}`, 'Node'],
    [`writeNodes body ${NDJSON_TYPE}`, 'NewNode'],
    [`queryVirtualGraph 200 ${NDJSON_TYPE}`, 'VirtualHyperedge'],
    [`readChanges 200 ${NDJSON_TYPE}`, 'Change'],
  ]);
  for (const { content } of streams) {
    const name = content['x-line-schema'].$ref.split('/').at(-1);
    const line = document.components.schemas[name];
    for (const { type } of line.oneOf ?? [line]) expect(type).toBe('object');
    expect(content.schema).toEqual({
      type: 'string',
      contentMediaType: NDJSON_TYPE,
      description: `One JSON value a line, each a ${name} (#/components/schemas/${name}).`,
    });
  }
});
