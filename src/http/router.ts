// Finds the route of a method and path: exact, case-sensitive, 404 before 405.

import { HedgerowError } from '../errors.ts';
import type { Method, Route } from './route.ts';

/** The routes of one path. */
export interface Resource {
  readonly routes: ReadonlyMap<Method, Route>;
  /** Value of `Allow`: HEAD wherever GET is, OPTIONS always. */
  readonly allow: string;
}

export interface Match {
  readonly resource: Resource;
  /** Decoded path parameters in the order of the template. */
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
  /** Patterns with parameters by their number of segments. */
  readonly #patterns: Pattern[][] = [];

  constructor(routes: readonly Route[]) {
    const byPath = new Map<string, Route[]>();
    for (const route of routes) {
      const same = byPath.get(route.path) ?? [];
      if (same.some((other) => other.method === route.method))
        throw new Error(`route ${route.method} ${route.path} twice`);
      same.push(route);
      byPath.set(route.path, same);
    }
    for (const [path, same] of byPath) {
      const resource = resourceOf(same);
      const segments = path.slice(1).split('/').map(asSegment);
      if (segments.includes(undefined)) {
        this.#patterns[segments.length] ??= [];
        this.#patterns[segments.length]!.push({ segments, resource });
      } else {
        this.#exact.set(path, { resource, parameters: NO_PARAMETERS });
      }
    }
  }

  /** The resource at `path`; throws route_not_found. */
  find(path: string): Match {
    const exact = this.#exact.get(path);
    if (exact !== undefined) return exact;
    const match = this.#findPattern(path);
    if (match === undefined) throw new HedgerowError('route_not_found', `There is no route ${path.slice(0, 200)}.`);
    return match;
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

/** The route for `method` (HEAD takes the one of GET); throws method_not_allowed. */
export function routeOf(resource: Resource, method: string): Route {
  const route = resource.routes.get(method === 'HEAD' ? 'GET' : (method as Method));
  if (route !== undefined) return route;
  throw new HedgerowError('method_not_allowed', `This path answers ${resource.allow}.`, {
    fields: { allow: resource.allow },
  });
}

const SLASH = 47;

function resourceOf(routes: readonly Route[]): Resource {
  const methods: string[] = routes.map((route) => route.method);
  if (methods.includes('GET')) methods.push('HEAD');
  methods.push('OPTIONS');
  return {
    routes: new Map(routes.map((route) => [route.method, route])),
    allow: methods.sort().join(', '),
  };
}

function asSegment(text: string): string | undefined {
  return text.startsWith('{') && text.endsWith('}') ? undefined : text;
}

/** The decoded parameters when `path` has the form of the pattern; a parameter is never empty. */
function parametersOf(segments: readonly (string | undefined)[], path: string): string[] | undefined {
  const parameters: string[] = [];
  let start = 1;
  for (const segment of segments) {
    const slash = path.indexOf('/', start);
    const end = slash < 0 ? path.length : slash;
    if (segment === undefined) {
      if (end === start) return undefined;
      parameters.push(decodeParameter(path.slice(start, end)));
    } else if (segment.length !== end - start || !path.startsWith(segment, start)) {
      return undefined;
    }
    start = end + 1;
  }
  return parameters;
}

function decodeParameter(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new HedgerowError('invalid_input', 'The path is not valid percent-encoded UTF-8.', {
      errors: [{ loc: ['path'], msg: 'is not valid percent-encoded UTF-8' }],
    });
  }
}
