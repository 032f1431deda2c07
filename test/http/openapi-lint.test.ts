import spectral, { type ISpectralDiagnostic } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { describe, expect, test } from 'vitest';
import { standaloneRoutes } from '../../src/cli/serve-virtual-routes.ts';
import { documentText } from '../../src/routes/description.ts';
import { routes } from '../../src/routes/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: the document is walked freely.
type Json = any;

/**
 * Applies the rules of spectral:oas, except the one that requires a contact: the publisher has no
 * contact address yet (see package.json).
 */
async function lint(document: Json): Promise<string[]> {
  const linter = new spectral.Spectral();
  const oas = rulesets.oas as unknown as spectral.RulesetDefinition;
  linter.setRuleset({ extends: [[oas, 'recommended']], rules: { 'info-contact': 'off' } });
  const found = await linter.run(document);
  return found.map(({ code, path, message }: ISpectralDiagnostic) => `${code} ${path.join('.')}: ${message}`);
}

const documentOf = (list: typeof routes): Json => JSON.parse(documentText({ routes: list, version: '1.2.3' }));

describe('spectral:oas', () => {
  test('finds no fault in the document of the service', async () => {
    expect(await lint(documentOf(routes))).toEqual([]);
  });

  test('finds no fault in the document of virtual graphs alone', async () => {
    expect(await lint(documentOf(standaloneRoutes))).toEqual([]);
  });

  test.each<[string, (document: Json) => void]>([
    ['operation-description', (document) => delete document.paths['/v1/virtual/graphs'].get.description],
    [
      'oas3-valid-media-example',
      (document) => {
        document.paths['/v1/virtual/graphs'].post.requestBody.content['application/json'].example = { name: 5 };
      },
    ],
    ['array-items', (document) => delete document.components.schemas.VirtualHyperedge.properties.members.items],
    [
      'operation-operationId-unique',
      (document) => {
        document.paths['/v1/virtual/graphs'].get.operationId = 'getVirtualGraph';
      },
    ],
  ])('reports %s for a document that breaks this rule', async (rule, breakIt) => {
    const document = documentOf(standaloneRoutes);
    breakIt(document);
    expect((await lint(document)).map((line) => line.split(' ')[0])).toContain(rule);
  });
});
