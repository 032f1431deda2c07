// Colours in the editor: what each part of a statement is.

import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from './code-mirror.ts';
import { type TokenKind, tokensOf } from './tokens.ts';

const MARKS = Object.fromEntries(
  (['comment', 'text', 'parameter', 'number', 'function', 'keyword', 'table', 'symbol'] as const).map((kind) => [
    kind,
    Decoration.mark({ class: `cm-${kind}` }),
  ]),
) as Record<TokenKind, Decoration>;

/**
 * Only what is in sight is coloured, of long lines too; what comes before is read each time, since
 * a comment may begin there.
 */
export const colours = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = coloursOf(view);
    }
    update({ docChanged, viewportChanged, view }: ViewUpdate) {
      if (docChanged || viewportChanged) this.decorations = coloursOf(view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function coloursOf({ state, visibleRanges }: EditorView): DecorationSet {
  const last = visibleRanges.at(-1)?.to ?? 0;
  const seen = tokensOf(state.doc.toString(), last).filter(({ start, end }) =>
    visibleRanges.some(({ from, to }) => end > from && start < to),
  );
  return Decoration.set(seen.map(({ kind, start, end }) => MARKS[kind].range(start, end)));
}
