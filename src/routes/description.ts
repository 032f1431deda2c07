// Serves the description of the API: the OpenAPI document, and the page that shows it.

import { type HedgerowError, refusal } from '../errors.ts';
import { contentReply, documentSteps, JSON_TYPE, type Reply } from '../http/index.ts';
import { described, text, v } from '../http/schema.ts';
import { finish, type Steps } from '../schedule/steps.ts';
import { type Route, type Services, validated } from './application.ts';
import { INTRODUCTION, TAGS } from './description-texts.ts';
import { PAGE, PAGE_FILES, PAGE_HEADERS, START_SCRIPT } from './docs-page.ts';
import { EXAMPLES } from './examples/index.ts';
import { OPERATION_TEXTS } from './operation-texts.ts';

/**
 * The document of each service. It is cached, because it does not change while the service runs.
 */
const DOCUMENTS = new WeakMap<Services, string>();

export function documentText(services: Pick<Services, 'routes' | 'version'>): string {
  return finish(textSteps(services));
}

/** Describing all routes at once would hold the event loop for 30 to 60 ms. */
function* textSteps({ routes, version }: Pick<Services, 'routes' | 'version'>): Steps<string> {
  const document = yield* documentSteps({
    routes,
    tags: TAGS,
    version,
    introduction: INTRODUCTION,
    operations: OPERATION_TEXTS,
    examples: EXAMPLES,
  });
  yield;
  return JSON.stringify(document);
}

const openapi = validated({
  id: 'getOpenapi',
  method: 'GET',
  path: '/openapi.json',
  role: 'none',
  summary: 'This description of the API, as OpenAPI 3.1.',
  database: false,
  answers: { 200: v.looseObject({ openapi: v.string(), paths: v.record(v.string(), v.unknown()) }) },
  handler: (_input, { services }) => {
    const document = DOCUMENTS.get(services);
    return document === undefined ? firstDocument(services) : documentReply(document);
  },
});

async function firstDocument(services: Services): Promise<Reply> {
  const document = await services.scheduler.drive('answer', textSteps(services));
  DOCUMENTS.set(services, document);
  return documentReply(document);
}

function documentReply(document: string): Reply {
  return contentReply(200, JSON_TYPE, document, [['Cache-Control', 'no-cache']]);
}

const page = validated({
  id: 'getDocs',
  method: 'GET',
  path: '/docs',
  role: 'none',
  summary: 'A page to read this description and to try its requests.',
  database: false,
  isPage: true,
  answerTypes: ['text/html'],
  answers: { 200: v.string() },
  handler: () => contentReply(200, 'text/html; charset=utf-8', PAGE, [...PAGE_HEADERS, ['Cache-Control', 'no-cache']]),
});

const file = validated({
  id: 'getDocsFile',
  method: 'GET',
  path: '/docs/{file}',
  role: 'none',
  summary: 'A file of the page.',
  database: false,
  isPage: true,
  parameters: v.object({ file: described(text(), `One of ${Object.keys(PAGE_FILES).join(', ')}.`) }),
  answerTypes: [...new Set(Object.values(PAGE_FILES).map((type) => type.replace(/;.*/, '')))],
  answers: { 200: v.string() },
  errors: [404],
  handler: ({ parameters }, { services }) => {
    const name = parameters.file;
    const contentType = Object.hasOwn(PAGE_FILES, name) ? PAGE_FILES[name] : undefined;
    if (contentType === undefined) throw missing(`The page has no file ${name.slice(0, 100)}.`);
    const bytes = name === 'start.js' ? START_SCRIPT : services.pageFile(name);
    if (bytes === undefined) throw missing(`The file ${name} was not built; run npm run build:page.`);
    return contentReply(200, contentType, bytes, [...PAGE_HEADERS, ['Cache-Control', 'public, max-age=86400']]);
  },
});

function missing(detail: string): HedgerowError {
  return refusal('route_not_found', detail);
}

export const descriptionRoutes: readonly Route[] = [openapi, page, file];
