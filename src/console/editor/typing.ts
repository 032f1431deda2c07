// Adds what the editor needs for typing: keys, undo, matching brackets and completion. It is loaded
// when the editor is first used.

import type { Table } from '../../client/index.ts';
import { brackets } from './brackets.ts';
import { EditorView, type Extension } from './code-mirror.ts';
import { completion } from './completion.ts';
import { editorKeys } from './keys.ts';

const look = EditorView.theme({
  '.cm-paired': { backgroundColor: 'var(--leaf-soft)' },
  '.cm-unpaired': { backgroundColor: 'var(--berry-soft)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--panel)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
  },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--leaf)', color: 'var(--on-leaf)' },
  '.cm-completionDetail': { color: 'inherit', opacity: '0.8' },
});

/**
 * Returns the extensions. `tables` is called at each completion, because the tables may change
 * while the editor is open.
 */
export const typing = (tables: () => readonly Table[]): Extension => [completion(tables), editorKeys, brackets, look];
