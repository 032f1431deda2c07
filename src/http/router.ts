// Finds the route for a method and a path. Paths must match exactly, including case. An unknown
// path (404) is reported before a method that is not allowed (405).

import { type HedgerowError, refusal } from '../errors.ts';
import type { Route } from './route.ts';

/** A route and its number for the observer. */
export interface Endpoint {
  readonly route: Route;
  readonly number: number;
}

/** The routes of one path. */
export interface Resource {
  /** By method; HEAD uses the endpoint of GET. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** Value of `Allow`: HEAD wherever there is GET, and always OPTIONS. */
  readonly allow: string;
}

export interface Match {
  readonly resource: Resource;
  /** Path parameters as received, in the order of the template. */
  readonly parameters: readonly string[];
}

interface Pattern {
  /** Undefined stands for a parameter. */
  readonly segments: readonly (string | undefined)[];
  readonly resource: Resource;
}

const NO_PARAMETERS: readonly string[] = [];

export class Router {
  readonly #exact = new Map<string, Match>();
  /** Patterns with parameters, by their number of segments. */
  readonly #patterns: Pattern[][] = [];

  /** `number` returns the observer's number for a route. */
  constructor(routes: readonly Route[], number: (route: Route) => number = () => 0) {
    const byPath = new Map<string, Route[]>();
    for (const route of routes) {
      const same = byPath.get(route.path) ?? [];
      if (same.some((other) => other.method === route.method))
        throw new Error(`route ${route.method} ${route.path} twice`);
      same.push(route);
      byPath.set(route.path, same);
    }
    for (const [path, same] of byPath) {
      const resource = resourceOf(same, number);
      const segments = path.slice(1).split('/').map(asSegment);
      if (segments.includes(undefined)) {
        this.#patterns[segments.length] ??= [];
        this.#patterns[segments.length]!.push({ segments, resource });
      } else {
        this.#exact.set(path, { resource, parameters: NO_PARAMETERS });
      }
    }
  }

  find(path: string): Match | undefined {
    return this.#exact.get(path) ?? this.#findPattern(path);
  }

  #findPattern(path: string): Match | undefined {
    let count = 0;
    for (let i = 0; i < path.length; i++) if (path.charCodeAt(i) === SLASH) count++;
    const patterns = this.#patterns[count];
    if (patterns === undefined) return undefined;
    for (const pattern of patterns) {
      const parameters = parametersOf(pattern.segments, path);
      if (parameters !== undefined) return { resource: pattern.resource, parameters };
    }
    return undefined;
  }
}

export function routeNotFound(path: string): HedgerowError {
  return refusal('route_not_found', `There is no route ${path.slice(0, 200)}.`);
}

export function methodNotAllowed({ allow }: Resource): HedgerowError {
  return refusal('method_not_allowed', `This path answers ${allow}.`, { fields: { allow } });
}

const SLASH = 47;

function resourceOf(routes: readonly Route[], number: (route: Route) => number): Resource {
  const endpoints = new Map<string, Endpoint>();
  for (const route of routes) endpoints.set(route.method, { route, number: number(route) });
  const get = endpoints.get('GET');
  if (get !== undefined) endpoints.set('HEAD', get);
  return { endpoints, allow: [...endpoints.keys(), 'OPTIONS'].sort().join(', ') };
}

function asSegment(text: string): string | undefined {
  return text.startsWith('{') && text.endsWith('}') ? undefined : text;
}

/** Returns the parameters if `path` matches the pattern; a parameter is never empty. */
function parametersOf(segments: readonly (string | undefined)[], path: string): string[] | undefined {
  const parameters: string[] = [];
  let start = 1;
  for (const segment of segments) {
    const slash = path.indexOf('/', start);
    const end = slash < 0 ? path.length : slash;
    if (segment === undefined) {
      if (end === start) return undefined;
      parameters.push(path.slice(start, end));
    } else if (segment.length !== end - start || !path.startsWith(segment, start)) {
      return undefined;
    }
    start = end + 1;
  }
  return parameters;
}

/** Returns the path parameters, percent-decoded. Throws `invalid_input`. */
export function decodedParameters(parameters: readonly string[]): readonly string[] {
  return parameters.length === 0 ? parameters : parameters.map(decodeParameter);
}

function decodeParameter(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw refusal('invalid_input', 'The path is not valid percent-encoded UTF-8.', {
      errors: [{ loc: ['path'], msg: 'is not valid percent-encoded UTF-8' }],
    });
  }
}
