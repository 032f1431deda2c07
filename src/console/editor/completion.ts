// Offers names in the editor to complete the word at the caret.

import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeCompletion,
  completionStatus,
  moveCompletionSelection,
  selectedCompletionIndex,
} from '@codemirror/autocomplete';
import type { Table } from '../../client/index.ts';
import { type EditorView, type Extension, keymap, Prec } from './code-mirror.ts';
import { isComplete, namesAt } from './names.ts';

/**
 * Returns the extension. Calls `tables` at each completion, because the tables may change while the
 * editor is open.
 */
export function completion(tables: () => readonly Table[]): Extension {
  const source = (context: CompletionContext): CompletionResult | null => {
    const found = namesAt(context.state.doc.toString(), context.pos, tables(), context.explicit);
    if (found === undefined) return null;
    // Searches again when the word is complete, which closes the list.
    const validFor = (word: string) => /^\w+$/.test(word) && !isComplete(word, found.names);
    return { from: found.start, options: found.names, validFor };
  };
  return [
    // Nothing is selected when the list opens: Enter breaks the line until an arrow key has chosen
    // a name.
    autocompletion({ override: [source], icons: false, selectOnOpen: false }),
    Prec.highest(
      keymap.of([
        // Tab accepts the chosen name, or the first one if none is chosen. When no list is open,
        // Tab leaves the editor, as it leaves any field of the page.
        { key: 'Tab', run: acceptFirst },
        // Closes the list before the statement runs.
        { key: 'Mod-Enter', run: (view) => closeCompletion(view) && false },
      ]),
    ),
  ];
}

function acceptFirst(view: EditorView): boolean {
  if (completionStatus(view.state) !== 'active') return false;
  if (selectedCompletionIndex(view.state) === null) moveCompletionSelection(true)(view);
  return acceptCompletion(view);
}
