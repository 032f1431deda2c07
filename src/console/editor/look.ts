// Defines how the editor looks: its sizes and colours, based on those of the page.

import { EditorView } from './code-mirror.ts';

export const look = EditorView.theme({
  '&': { fontSize: '14px', backgroundColor: 'transparent', color: 'var(--ink)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', minHeight: '108px', maxHeight: '300px' },
  '.cm-content': { padding: '12px 4px', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 12px' },
  '.cm-placeholder': { color: 'var(--quiet)' },
  '.cm-keyword': { color: 'var(--leaf-text)', fontWeight: '600' },
  '.cm-text': { color: 'var(--berry-text)' },
  '.cm-number': { color: 'var(--sky-text)' },
  '.cm-parameter': { color: 'var(--sky-text)', fontWeight: '600' },
  '.cm-comment': { color: 'var(--quiet)', fontStyle: 'italic' },
  '.cm-function, .cm-table': { color: 'var(--bark-text)' },
  '.cm-symbol': { color: 'var(--quiet)' },
  '.cm-fault': {
    textDecoration: 'underline wavy var(--berry)',
    textUnderlineOffset: '4px',
    backgroundColor: 'var(--berry-soft)',
  },
});
