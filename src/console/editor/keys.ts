// Defines the keys of the editor: their effects on text and caret, and undo. This is the only file
// that imports the library's commands.

import * as commands from '@codemirror/commands';
import {
  type Command,
  EditorSelection,
  type Extension,
  findClusterBreak,
  type KeyBinding,
  keymap,
  type Text,
} from './code-mirror.ts';

/**
 * Bindings of the library's default keymap, listed one by one. Importing that keymap would include
 * half of a language parser, which is larger than the rest of the console. The commands for
 * indentation, syntax trees and several carets, among others, are left out.
 */
const BINDINGS: readonly KeyBinding[] = [
  { key: 'ArrowLeft', run: commands.cursorCharLeft, shift: commands.selectCharLeft, preventDefault: true },
  {
    key: 'Mod-ArrowLeft',
    mac: 'Alt-ArrowLeft',
    run: commands.cursorGroupLeft,
    shift: commands.selectGroupLeft,
    preventDefault: true,
  },
  {
    mac: 'Cmd-ArrowLeft',
    run: commands.cursorLineBoundaryLeft,
    shift: commands.selectLineBoundaryLeft,
    preventDefault: true,
  },
  { key: 'ArrowRight', run: commands.cursorCharRight, shift: commands.selectCharRight, preventDefault: true },
  {
    key: 'Mod-ArrowRight',
    mac: 'Alt-ArrowRight',
    run: commands.cursorGroupRight,
    shift: commands.selectGroupRight,
    preventDefault: true,
  },
  {
    mac: 'Cmd-ArrowRight',
    run: commands.cursorLineBoundaryRight,
    shift: commands.selectLineBoundaryRight,
    preventDefault: true,
  },
  { key: 'ArrowUp', run: commands.cursorLineUp, shift: commands.selectLineUp, preventDefault: true },
  { mac: 'Cmd-ArrowUp', run: commands.cursorDocStart, shift: commands.selectDocStart },
  { mac: 'Ctrl-ArrowUp', run: commands.cursorPageUp, shift: commands.selectPageUp },
  { key: 'ArrowDown', run: commands.cursorLineDown, shift: commands.selectLineDown, preventDefault: true },
  { mac: 'Cmd-ArrowDown', run: commands.cursorDocEnd, shift: commands.selectDocEnd },
  { mac: 'Ctrl-ArrowDown', run: commands.cursorPageDown, shift: commands.selectPageDown },
  { key: 'PageUp', run: commands.cursorPageUp, shift: commands.selectPageUp },
  { key: 'PageDown', run: commands.cursorPageDown, shift: commands.selectPageDown },
  {
    key: 'Home',
    run: commands.cursorLineBoundaryBackward,
    shift: commands.selectLineBoundaryBackward,
    preventDefault: true,
  },
  { key: 'Mod-Home', run: commands.cursorDocStart, shift: commands.selectDocStart },
  {
    key: 'End',
    run: commands.cursorLineBoundaryForward,
    shift: commands.selectLineBoundaryForward,
    preventDefault: true,
  },
  { key: 'Mod-End', run: commands.cursorDocEnd, shift: commands.selectDocEnd },
  { key: 'Enter', run: commands.insertNewlineKeepIndent, shift: commands.insertNewlineKeepIndent },
  { key: 'Mod-a', run: commands.selectAll },
  { key: 'Backspace', run: deleteCharacter(false), shift: deleteCharacter(false), preventDefault: true },
  { key: 'Delete', run: deleteCharacter(true), preventDefault: true },
  { key: 'Mod-Backspace', mac: 'Alt-Backspace', run: commands.deleteGroupBackward, preventDefault: true },
  { key: 'Mod-Delete', mac: 'Alt-Delete', run: commands.deleteGroupForward, preventDefault: true },
  { mac: 'Mod-Backspace', run: commands.deleteLineBoundaryBackward, preventDefault: true },
  { mac: 'Mod-Delete', run: commands.deleteLineBoundaryForward, preventDefault: true },
  { key: 'Shift-Alt-ArrowUp', run: commands.copyLineUp },
  { key: 'Shift-Alt-ArrowDown', run: commands.copyLineDown },
  { key: 'Alt-l', mac: 'Ctrl-l', run: commands.selectLine },
  { key: 'Shift-Mod-k', run: commands.deleteLine },
  { key: 'Mod-/', run: commands.toggleLineComment },
  ...commands.historyKeymap,
];

export const editorKeys: Extension = [commands.history(), keymap.of(BINDINGS)];

/** Returns a command that deletes the selection or, if it is empty, one visible character. */
function deleteCharacter(isForward: boolean): Command {
  return ({ state, dispatch }) => {
    const change = state.changeByRange((range) => {
      const next = range.empty ? besideOf(state.doc, range.head, isForward) : range.anchor;
      const from = Math.min(range.head, next);
      const to = Math.max(range.head, next);
      return from === to ? { range } : { changes: { from, to }, range: EditorSelection.cursor(from) };
    });
    if (change.changes.empty) return false;
    dispatch(
      state.update(change, { scrollIntoView: true, userEvent: isForward ? 'delete.forward' : 'delete.backward' }),
    );
    return true;
  };
}

/**
 * Returns the previous or next position, across line ends too; at the ends of the text, the same
 * position.
 */
function besideOf(text: Text, place: number, isForward: boolean): number {
  const line = text.lineAt(place);
  const beside = line.from + findClusterBreak(line.text, place - line.from, isForward);
  if (beside !== place) return beside;
  return isForward ? Math.min(text.length, place + 1) : Math.max(0, place - 1);
}
