// Checks the flags of `hedgerow query` and `hedgerow shell`.

import { randomUUID } from 'node:crypto';
import type { Parameters, Place } from '../run/runner.ts';
import { ServerRunner } from '../run/server-runner.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import { UsageError, type World } from '../world.ts';
import { FORMATS, type Format, TIMES, type Times } from './formats.ts';

export interface RunnerFlags {
  url?: string | undefined;
  apiKey?: string | undefined;
  data?: string | undefined;
  config?: string | undefined;
}

/** Throws UsageError, ConfigError, or the error of opening the directory. */
export async function openRunner(flags: RunnerFlags, world: World): Promise<Place> {
  const { url, apiKey, data, config } = flags;
  if (data !== undefined) {
    if (url !== undefined) throw new UsageError('--data and --url exclude each other.');
    return (await import('../run/directory-runner.ts')).openDirectoryRunner(data, config, world);
  }
  if (config !== undefined) throw new UsageError('--config needs --data: a server has its own settings.');
  return new ServerRunner({ url: urlOf(url ?? DEFAULT_URL), apiKey, session: randomUUID() });
}

/**
 * Returns the given format. The default is a table on a terminal and JSON otherwise. Throws
 * UsageError.
 */
export function formatOf(given: string | undefined, world: World): Format {
  if (given === undefined) return world.stdout.isTTY === true ? 'table' : 'json';
  const format = FORMATS.find((name) => name === given);
  if (format !== undefined) return format;
  throw new UsageError(`--format is ${JSON.stringify(given)}, but it takes one of ${FORMATS.join(', ')}.`);
}

/** Returns undefined when the flag is not given. Throws UsageError. */
export function timesOf(given: string | undefined): Times | undefined {
  const times = TIMES.find((name) => name === given);
  if (times !== undefined || given === undefined) return times;
  throw new UsageError(`--times is ${JSON.stringify(given)}, but it takes one of ${TIMES.join(', ')}.`);
}

const NAME = /^[A-Za-z_]\w*$/;

/** Parses parameters of the form `name=json`; each name may occur once. Throws UsageError. */
export function parametersOf(given: readonly string[]): Parameters {
  const parameters: [string, unknown][] = [];
  for (const one of given) {
    const at = one.indexOf('=');
    const name = at < 0 ? one : one.slice(0, at);
    if (at < 0 || !NAME.test(name))
      throw new UsageError(`--param ${JSON.stringify(one)} must be name=json, as in --param node=7.`);
    if (parameters.some(([known]) => known === name)) throw new UsageError(`--param ${name} is given twice.`);
    parameters.push([name, jsonValue(name, one.slice(at + 1))]);
  }
  return Object.fromEntries(parameters);
}

/** Parses the JSON value of a parameter. Throws UsageError. */
export function jsonValue(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(
      `The value of ${name} is not JSON: ${text.slice(0, 100)}. Put a text into double quotes, as in ${name}='"text"'.`,
    );
  }
}
