// Colours the parts of a statement in the editor by their kind.

import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from './code-mirror.ts';
import { type TokenKind, tokensOf } from './tokens.ts';

const MARKS = Object.fromEntries(
  (['comment', 'text', 'parameter', 'number', 'function', 'keyword', 'table', 'symbol'] as const).map((kind) => [
    kind,
    Decoration.mark({ class: `cm-${kind}` }),
  ]),
) as Record<TokenKind, Decoration>;

/**
 * Colours only the visible parts, even of long lines. The text before them is read each time,
 * because a comment may begin there.
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
