// Highlights the bracket at the caret and its counterpart.

import { bare } from '../statement-words.ts';
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from './code-mirror.ts';

const PAIRED = Decoration.mark({ class: 'cm-paired' });
const UNPAIRED = Decoration.mark({ class: 'cm-unpaired' });

/** Longer texts are not searched, because the search runs at every move of the caret. */
const MOST_SEARCHED = 100_000;

export const brackets = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = bracketsOf(view);
    }
    update({ docChanged, selectionSet, view }: ViewUpdate) {
      if (docChanged || selectionSet) this.decorations = bracketsOf(view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function bracketsOf({ state }: EditorView): DecorationSet {
  const { main } = state.selection;
  if (!main.empty || state.doc.length > MOST_SEARCHED) return Decoration.none;
  const found = bracketAt(state.doc.toString(), main.head);
  if (found === undefined) return Decoration.none;
  const { at, other } = found;
  if (other === undefined) return Decoration.set([UNPAIRED.range(at, at + 1)]);
  return Decoration.set(
    [at, other].map((place) => PAIRED.range(place, place + 1)),
    true,
  );
}

/**
 * Returns the position of the bracket before the place (or else after it), and of its counterpart
 * if there is one. Ignores brackets in texts and comments.
 */
export function bracketAt(statement: string, place: number): { at: number; other: number | undefined } | undefined {
  const text = bare(statement);
  const at = [place - 1, place].find((index) => /[()[\]]/.test(text[index] ?? ''));
  if (at === undefined) return undefined;
  const step = '(['.includes(text[at]!) ? 1 : -1;
  let depth = 0;
  for (let index = at; index >= 0 && index < text.length; index += step) {
    const character = text[index]!;
    if ('(['.includes(character)) depth += step;
    else if (')]'.includes(character)) depth -= step;
    if (depth === 0) {
      const pair = step === 1 ? text[at]! + character : character + text[at]!;
      return { at, other: pair === '()' || pair === '[]' ? index : undefined };
    }
  }
  return { at, other: undefined };
}
