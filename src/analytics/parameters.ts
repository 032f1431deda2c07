// Describes the parameters of measures as data, and checks given parameters. A wrong or unknown
// parameter is an `invalid_input` error that names it.

import { type FieldError, HedgerowError } from '../errors.ts';
import { isoSeconds, TIME_FORM, timeProblem } from '../iso-time.ts';
import type { KindAndKey, MemberKind } from '../model/node-refs.ts';
import { didYouMean } from '../model/suggestions.ts';
import { problemOfNode, readNodeText } from './node-parameters.ts';

/**
 * Description of one parameter. `least` and `most` are inclusive bounds, or exclusive bounds if
 * `open` is true.
 */
export type Parameter =
  | {
      name: string;
      type: 'integer' | 'number';
      about: string;
      default?: number;
      least?: number;
      most?: number;
      open?: boolean;
    }
  | { name: string; type: 'boolean'; about: string; default?: boolean }
  | { name: string; type: 'choice'; about: string; choices: readonly string[]; default?: string }
  /** Epoch seconds, or an ISO 8601 text, which is converted to epoch seconds. */
  | { name: string; type: 'time'; about: string }
  /**
   * A node: its id or, in a named table, its key. If `isEdge` returns true for the values of the
   * parameters before it, an edge id instead.
   */
  | { name: string; type: 'node'; about: string; isEdge?: (values: ParameterValues) => boolean }
  /** The name of a role of the table. */
  | { name: string; type: 'role'; about: string }
  /** An object from node id (in a named table key) to community. */
  | { name: string; type: 'partition'; about: string };

export type ParameterValue = number | boolean | string | KindAndKey | Record<string, number | string>;
export type ParameterValues = Record<string, ParameterValue>;

/**
 * Returns the given parameters with defaults filled in, in the order of their descriptions. `kinds`
 * are those of the members of a named table, whose nodes are given by keys. Throws `invalid_input`,
 * which names every wrong parameter.
 */
export function checkParameters(
  given: unknown,
  described: readonly Parameter[],
  measure: string,
  kinds?: readonly MemberKind[],
): ParameterValues {
  if (given !== undefined && given !== null && (typeof given !== 'object' || Array.isArray(given)))
    throw new HedgerowError('invalid_input', 'params must be an object of parameters by name.');
  const wrong: FieldError[] = [];
  const values: ParameterValues = {};
  const entries = (given ?? {}) as Record<string, unknown>;
  for (const parameter of described) {
    // JSON null means the same as an omitted parameter.
    const value = Object.hasOwn(entries, parameter.name) ? (entries[parameter.name] ?? undefined) : undefined;
    if (value === undefined) {
      if ('default' in parameter && parameter.default !== undefined) values[parameter.name] = parameter.default;
      continue;
    }
    const problem = problemOf(parameter, value, values, kinds);
    if (problem === undefined) values[parameter.name] = takenValue(parameter, value);
    else wrong.push({ loc: ['body', 'params', parameter.name], msg: problem });
  }
  const names = described.map(({ name }) => name);
  for (const name of Object.keys(entries))
    if (!names.includes(name))
      wrong.push({ loc: ['body', 'params', name], msg: unknownParameter(name, names, measure) });
  if (wrong.length > 0) throw new HedgerowError('invalid_input', sentenceOf(wrong), { errors: wrong });
  return values;
}

function sentenceOf(wrong: readonly FieldError[]): string {
  const [first] = wrong;
  const more = wrong.length > 1 ? ` (${wrong.length - 1} more in errors)` : '';
  return `Parameter ${String(first!.loc[2])}: ${first!.msg}${more}`;
}

function unknownParameter(name: string, names: readonly string[], measure: string): string {
  return `is not a parameter of ${measure}, which takes ${names.join(', ')}.${didYouMean(name, names)}`;
}

function takenValue({ type }: Parameter, value: unknown): ParameterValue {
  return type === 'time' && typeof value === 'string' ? isoSeconds(value)! : (value as ParameterValue);
}

/** Returns what is wrong with a value; undefined if it is valid. */
function problemOf(
  parameter: Parameter,
  value: unknown,
  values: ParameterValues,
  kinds: readonly MemberKind[] | undefined,
): string | undefined {
  switch (parameter.type) {
    case 'integer':
    case 'number':
      return problemOfNumber(parameter, value);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false.';
    case 'time':
      return problemOfTime(value);
    case 'choice':
      return parameter.choices.includes(value as string)
        ? undefined
        : `must be one of ${parameter.choices.join(', ')}.`;
    case 'node':
      return kinds === undefined || parameter.isEdge?.(values) === true
        ? problemOfNumber({ ...parameter, type: 'integer' }, value)
        : problemOfNode(value, kinds);
    case 'role':
      return typeof value === 'string' ? undefined : 'must be the name of a role of the table.';
    case 'partition':
      return problemOfPartition(value, kinds);
  }
}

function problemOfNumber(
  { type, least, most, open }: Extract<Parameter, { type: 'integer' | 'number' }>,
  value: unknown,
): string | undefined {
  const kind = type === 'integer' ? 'a whole number' : 'a number';
  const isRight =
    type === 'integer' ? Number.isSafeInteger(value) : typeof value === 'number' && Number.isFinite(value);
  if (!isRight) return `must be ${kind}.`;
  const number = value as number;
  if (open === true) {
    if ((least !== undefined && number <= least) || (most !== undefined && number >= most))
      return most === undefined ? `must be above ${least}.` : `must be between ${least} and ${most}, both excluded.`;
    return undefined;
  }
  if (least !== undefined && number < least) return `must be ${kind} of at least ${least}.`;
  if (most !== undefined && number > most) return `must be ${kind} of at most ${most}.`;
  return undefined;
}

function problemOfTime(value: unknown): string | undefined {
  if (typeof value === 'string')
    return isoSeconds(value) === undefined ? `${timeProblem(value)}; it must be ${TIME_FORM}.` : undefined;
  return Number.isSafeInteger(value) ? undefined : `must be a whole number: ${TIME_FORM}.`;
}

function problemOfPartition(value: unknown, kinds: readonly MemberKind[] | undefined): string | undefined {
  const node = kinds === undefined ? 'node id' : 'key';
  const rule = `must be an object from ${node} to the community that the node is in (a number or a text).`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return rule;
  for (const [node, community] of Object.entries(value)) {
    if (kinds !== undefined) {
      const read = readNodeText(node, kinds);
      if (typeof read === 'string') return `${rule} ${JSON.stringify(node.slice(0, 40))} ${read}.`;
    } else if (!/^(0|-?[1-9][0-9]{0,15})$/.test(node) || !Number.isSafeInteger(Number(node)))
      return `${rule} ${JSON.stringify(node.slice(0, 40))} is not a node id.`;
    if (typeof community !== 'string' && !Number.isSafeInteger(community))
      return `${rule} The community of node ${node} is neither.`;
  }
  return undefined;
}

/** Returns a JSON Schema of the parameters, for descriptions and forms. */
export function schemaOf(described: readonly Parameter[]): Record<string, unknown> {
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(described.map((parameter) => [parameter.name, propertyOf(parameter)])),
  };
}

function propertyOf(parameter: Parameter): Record<string, unknown> {
  const { about: description } = parameter;
  switch (parameter.type) {
    case 'integer':
    case 'number': {
      const { type, least, most, open } = parameter;
      const bounds = open ? { exclusiveMinimum: least, exclusiveMaximum: most } : { minimum: least, maximum: most };
      return { type, description, default: parameter.default, ...bounds };
    }
    case 'boolean':
      return { type: 'boolean', description, default: parameter.default };
    case 'time':
      return { type: ['integer', 'string'], description };
    case 'choice':
      return { type: 'string', enum: parameter.choices, description, default: parameter.default };
    case 'node':
      return { type: ['integer', 'string', 'object'], description };
    case 'role':
      return { type: 'string', description };
    case 'partition':
      return { type: 'object', additionalProperties: { type: ['integer', 'string'] }, description };
  }
}

/**
 * Returns the error for a missing parameter that is required because of the values of other
 * parameters.
 */
export function missingParameter(name: string, reason: string): HedgerowError {
  return new HedgerowError('invalid_input', `Parameter ${name} is missing: ${reason}`, {
    errors: [{ loc: ['body', 'params', name], msg: reason }],
  });
}

/**
 * Returns the error for a parameter that does not apply with the given values of other parameters.
 */
export function misplacedParameter(name: string, reason: string): HedgerowError {
  return new HedgerowError('invalid_input', `Parameter ${name} does not apply here: ${reason}`, {
    errors: [{ loc: ['body', 'params', name], msg: reason }],
  });
}
