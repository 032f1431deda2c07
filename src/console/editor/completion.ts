// Completion in the editor: names for the word at the caret.

import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeCompletion,
} from '@codemirror/autocomplete';
import type { Table } from '../../client/index.ts';
import { type Extension, keymap, Prec } from './code-mirror.ts';
import { namesAt } from './names.ts';

/** The tables are asked for at each completion: they change while the editor is open. */
export function completion(tables: () => readonly Table[]): Extension {
  const source = (context: CompletionContext): CompletionResult | null => {
    const found = namesAt(context.state.doc.toString(), context.pos, tables(), context.explicit);
    return found === undefined ? null : { from: found.start, options: found.names, validFor: /^\w*$/ };
  };
  return [
    autocompletion({ override: [source], icons: false }),
    Prec.highest(
      keymap.of([
        // Tab takes a completion when one is offered; else it leaves the editor, as it does everywhere on the page.
        { key: 'Tab', run: acceptCompletion },
        // What is offered does not stay over a statement that runs.
        { key: 'Mod-Enter', run: (view) => closeCompletion(view) && false },
      ]),
    ),
  ];
}
