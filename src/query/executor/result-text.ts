// Writes result rows as JSON: objects keyed by column name.

import type { ResultChunk } from './run-match.ts';
import { type Vector, valueAt } from './vector.ts';

/** Texts that stand before each value of a row; made once a statement. */
export function rowKeys(names: readonly string[]): string[] {
  return names.map((name, place) => `${place === 0 ? '{' : ','}${JSON.stringify(name)}:`);
}

/** The rows of a chunk, each with `behind` after it (`\n`) or, when that is empty, commas between them. */
export function chunkText(chunk: ResultChunk, keys: readonly string[], behind: string): string {
  const texts = chunk.items.map((vector) => cellTexts(vector, chunk.count));
  let text = '';
  for (let row = 0; row < chunk.count; row++) {
    if (behind === '' && row > 0) text += ',';
    for (let place = 0; place < keys.length; place++) text += keys[place]! + texts[place]![row]!;
    text += `}${behind}`;
  }
  return text;
}

/** JSON of every value. Numbers are finite, and -0 is written 0 as JSON.stringify does. */
function cellTexts(vector: Vector, count: number): string[] {
  if (vector.kind === 'constant') return new Array<string>(count).fill(JSON.stringify(vector.value));
  const texts = new Array<string>(count);
  if (vector.kind === 'number') {
    const { values, nulls } = vector;
    for (let i = 0; i < count; i++) texts[i] = nulls?.[i] === 1 ? 'null' : String(values[i]! + 0);
    return texts;
  }
  if (vector.kind === 'text') {
    const written = vector.texts.map(() => '');
    for (let i = 0; i < count; i++) {
      const code = vector.codes[i]!;
      if (vector.nulls?.[i] === 1) texts[i] = 'null';
      else texts[i] = written[code] ||= JSON.stringify(vector.texts[code]);
    }
    return texts;
  }
  for (let i = 0; i < count; i++) texts[i] = JSON.stringify(valueAt(vector, i));
  return texts;
}
