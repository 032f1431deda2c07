// The routes of virtual graphs, which the client library does not carry: the same key, the same errors.

import { HedgerowApiError, HedgerowConnectionError } from '../../client/index.ts';
import type { InferOutput } from '../../http/schema.ts';
import type * as virtual from '../../routes/schemas/virtual.ts';
import { serviceUrl, session } from '../session.ts';

export type GraphList = InferOutput<typeof virtual.graphList>['graphs'];
export type Backends = InferOutput<typeof virtual.backendList>['backends'];
export type Proposal = InferOutput<typeof virtual.proposeAnswer>;
export type VirtualAnswer = InferOutput<typeof virtual.queryAnswer>;
export type Compiled = InferOutput<typeof virtual.compileAnswer>;

interface ErrorBody {
  readonly detail?: string;
  readonly code?: string;
  readonly request_id?: string;
  readonly errors?: HedgerowApiError['errors'];
}

async function call<T>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  const key = session.value?.key ?? '';
  if (key !== '') headers['X-API-Key'] = key;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let response: Response;
  try {
    response = await fetch(`${serviceUrl()}/v1/virtual/${path}`, {
      method,
      headers,
      redirect: 'error',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (cause) {
    throw new HedgerowConnectionError('The service did not answer.', { cause });
  }
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as T;
  throw refusalOf(response.status, text);
}

function refusalOf(statusCode: number, text: string): HedgerowApiError {
  let body: ErrorBody = {};
  try {
    body = JSON.parse(text) as ErrorBody;
  } catch {
    // Something in front of the service answered; its text is all there is.
  }
  return new HedgerowApiError({
    statusCode,
    detail: body.detail ?? text.slice(0, 300),
    code: body.code,
    requestId: body.request_id,
    errors: body.errors ?? [],
    retryAfter: undefined,
    line: undefined,
    column: undefined,
  });
}

const place = (id: string) => `graphs/${encodeURIComponent(id)}`;

export const virtualGraphs = {
  backends: async () => (await call<{ backends: Backends }>('GET', 'backends')).backends,
  list: async () => (await call<{ graphs: GraphList }>('GET', 'graphs')).graphs,
  get: (id: string) => call<Record<string, unknown>>('GET', place(id)),
  propose: (backend: Record<string, string>, id: string) =>
    call<Proposal>('POST', 'propose', { backend, id, name: id }),
  create: (spec: unknown) => call<{ id: string }>('POST', 'graphs', spec),
  replace: (id: string, spec: unknown) => call<{ id: string }>('PUT', place(id), spec),
  remove: (id: string) => call<unknown>('DELETE', place(id)),
  compile: (id: string, query: string) => call<Compiled>('POST', `${place(id)}/compile`, { query }),
  query: (id: string, query: string, limit: number) =>
    call<VirtualAnswer>('POST', `${place(id)}/query`, { query, limit }),
};
