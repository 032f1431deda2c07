// Parses the parameters of a measure from the flags `--param` and `--params`.

import { UsageError } from '../world.ts';

/**
 * Returns the fields of the JSON object, if there is one, overridden by the `name=value` pairs. A
 * value that is not JSON is taken as text: `kind=jaccard` needs no quotes. Throws UsageError.
 */
export function measureParametersOf(pairs: readonly string[], json: string | undefined): Record<string, unknown> {
  const params = json === undefined ? {} : objectOf(json);
  const seen = new Set<string>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at <= 0) throw new UsageError(`--param ${JSON.stringify(pair)} must be name=value, as in --param s=2.`);
    const name = pair.slice(0, at);
    if (seen.has(name)) throw new UsageError(`--param ${name} is given twice.`);
    seen.add(name);
    params[name] = jsonOrText(pair.slice(at + 1));
  }
  return params;
}

function objectOf(json: string): Record<string, unknown> {
  const value = jsonOrText(json);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new UsageError(`--params must be a JSON object, as in --params '{"s": 2}', not ${json.slice(0, 100)}.`);
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
