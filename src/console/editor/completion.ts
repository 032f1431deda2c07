// Completion in the editor: names for the word at the caret.

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

/** The tables are asked for at each completion: they change while the editor is open. */
export function completion(tables: () => readonly Table[]): Extension {
  const source = (context: CompletionContext): CompletionResult | null => {
    const found = namesAt(context.state.doc.toString(), context.pos, tables(), context.explicit);
    if (found === undefined) return null;
    // Asked again once the word is complete, which closes the list.
    const validFor = (word: string) => /^\w+$/.test(word) && !isComplete(word, found.names);
    return { from: found.start, options: found.names, validFor };
  };
  return [
    // Nothing is selected by opening: Enter breaks the line until an arrow key has chosen one.
    autocompletion({ override: [source], icons: false, selectOnOpen: false }),
    Prec.highest(
      keymap.of([
        // Tab takes the chosen completion, or the first; without any it leaves the editor, as it
        // does everywhere on the page.
        { key: 'Tab', run: acceptFirst },
        // What is offered does not stay over a statement that runs.
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
