// Reads the nodes that a cell contains and decides whether they are numbers or names.

import { isNullWord } from './cell-types.ts';

const INTEGERS = /^\s*[+-]?\d{1,16}(\.0*)?\s*$/;
/** The words that databases write for a missing value: no node has such a name. */
const NO_NODES: ReadonlySet<string> = new Set(['NULL', '\\N']);

/** Returns the nodes in a cell or list as texts. The result is empty for an empty cell. */
export function nodeTexts(cell: unknown, separator: string | undefined, isNamed: boolean): string[] {
  const texts: string[] = [];
  for (const part of itemsOf(cell, separator)) {
    const text = String(part ?? '').trim();
    if (text === '' || NO_NODES.has(text) || (!isNamed && isNullWord(text))) continue;
    texts.push(text);
  }
  return texts;
}

/**
 * Returns the keys of nodes in a cell or list: texts, numbers, or objects with `kind` and `key`.
 * The items of a list are returned as they are, and so are those of a JSON list in a text. Parts of
 * another text are trimmed, and empty parts are left out.
 */
export function keyItems(cell: unknown, separator: string | undefined): readonly unknown[] {
  if (cell === null || cell === undefined) return [];
  const list = typeof cell === 'string' && separator !== undefined ? keyListIn(cell.trim()) : undefined;
  if (list !== undefined) return list;
  if (typeof cell !== 'string') return itemsOf(cell, separator).filter((item) => item !== null && item !== undefined);
  const parts = separator === undefined ? [cell] : cell.split(separator);
  return parts.map((part) => part.trim()).filter((part) => part !== '' && !NO_NODES.has(part));
}

function keyListIn(text: string): readonly unknown[] | undefined {
  if (!text.startsWith('[') || !text.endsWith(']')) return undefined;
  try {
    const list = JSON.parse(text) as readonly unknown[];
    return list.every(isKeyItem) ? list : undefined;
  } catch {
    return undefined;
  }
}

function isKeyItem(item: unknown): boolean {
  if (typeof item === 'string' || typeof item === 'number') return true;
  return typeof item === 'object' && item !== null && 'kind' in item && 'key' in item;
}

/** Returns the integer in the text; NaN if the text is not an integer that a node can have. */
export function nodeNumber(text: string): number {
  const number = INTEGERS.test(text) ? Number(text) + 0 : Number.NaN;
  return Number.isSafeInteger(number) ? number : Number.NaN;
}

/** True if some cell contains a node that is not an integer. */
export function hasNames(cells: readonly unknown[], separator: string | undefined): boolean {
  return cells.some((cell) => {
    if (typeof cell === 'number' || typeof cell === 'bigint') return false;
    return itemsOf(cell, separator).some((part) => {
      const text = String(part ?? '').trim();
      return text !== '' && !isNullWord(text) && !INTEGERS.test(text);
    });
  });
}

function itemsOf(cell: unknown, separator: string | undefined): readonly unknown[] {
  if (cell === null || cell === undefined) return [];
  if (Array.isArray(cell) || ArrayBuffer.isView(cell)) return Array.from(cell as ArrayLike<unknown>);
  return typeof cell === 'string' ? partsOf(cell, separator) : [cell];
}

/**
 * Returns the nodes in one cell. `[1,2]` is a list for any separator, and so is a JSON list of
 * names. Without a separator each cell is one node.
 */
function partsOf(cell: string, separator: string | undefined): readonly unknown[] {
  if (separator === undefined) return [cell];
  const text = cell.trim();
  if (/^\[[\d\s,+-]*\]$/.test(text)) return text.slice(1, -1).split(',');
  const list = text.startsWith('["') && text.endsWith(']') ? listIn(text) : undefined;
  return list ?? text.split(separator);
}

function listIn(text: string): readonly unknown[] | undefined {
  try {
    const list = JSON.parse(text) as readonly unknown[];
    return list.every((item) => typeof item === 'string' || typeof item === 'number') ? list : undefined;
  } catch {
    return undefined;
  }
}
