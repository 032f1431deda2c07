// The keys of the editor: what each does to the text and to the caret.

import * as cm from './code-mirror.ts';

/**
 * The bindings of the library's standard keymap, put together here: taken whole it brings along half of a parser of languages, more than the rest of the
 * console weighs. Indentation and syntax trees are the only commands left out.
 */
export const editorKeys: readonly cm.KeyBinding[] = [
  { key: 'ArrowLeft', run: cm.cursorCharLeft, shift: cm.selectCharLeft, preventDefault: true },
  {
    key: 'Mod-ArrowLeft',
    mac: 'Alt-ArrowLeft',
    run: cm.cursorGroupLeft,
    shift: cm.selectGroupLeft,
    preventDefault: true,
  },
  { mac: 'Cmd-ArrowLeft', run: cm.cursorLineBoundaryLeft, shift: cm.selectLineBoundaryLeft, preventDefault: true },
  { key: 'ArrowRight', run: cm.cursorCharRight, shift: cm.selectCharRight, preventDefault: true },
  {
    key: 'Mod-ArrowRight',
    mac: 'Alt-ArrowRight',
    run: cm.cursorGroupRight,
    shift: cm.selectGroupRight,
    preventDefault: true,
  },
  { mac: 'Cmd-ArrowRight', run: cm.cursorLineBoundaryRight, shift: cm.selectLineBoundaryRight, preventDefault: true },
  { key: 'ArrowUp', run: cm.cursorLineUp, shift: cm.selectLineUp, preventDefault: true },
  { mac: 'Cmd-ArrowUp', run: cm.cursorDocStart, shift: cm.selectDocStart },
  { mac: 'Ctrl-ArrowUp', run: cm.cursorPageUp, shift: cm.selectPageUp },
  { key: 'ArrowDown', run: cm.cursorLineDown, shift: cm.selectLineDown, preventDefault: true },
  { mac: 'Cmd-ArrowDown', run: cm.cursorDocEnd, shift: cm.selectDocEnd },
  { mac: 'Ctrl-ArrowDown', run: cm.cursorPageDown, shift: cm.selectPageDown },
  { key: 'PageUp', run: cm.cursorPageUp, shift: cm.selectPageUp },
  { key: 'PageDown', run: cm.cursorPageDown, shift: cm.selectPageDown },
  { key: 'Home', run: cm.cursorLineBoundaryBackward, shift: cm.selectLineBoundaryBackward, preventDefault: true },
  { key: 'Mod-Home', run: cm.cursorDocStart, shift: cm.selectDocStart },
  { key: 'End', run: cm.cursorLineBoundaryForward, shift: cm.selectLineBoundaryForward, preventDefault: true },
  { key: 'Mod-End', run: cm.cursorDocEnd, shift: cm.selectDocEnd },
  { key: 'Enter', run: cm.insertNewlineKeepIndent, shift: cm.insertNewlineKeepIndent },
  { key: 'Mod-a', run: cm.selectAll },
  { key: 'Backspace', run: deleteCharacter(false), shift: deleteCharacter(false), preventDefault: true },
  { key: 'Delete', run: deleteCharacter(true), preventDefault: true },
  { key: 'Mod-Backspace', mac: 'Alt-Backspace', run: cm.deleteGroupBackward, preventDefault: true },
  { key: 'Mod-Delete', mac: 'Alt-Delete', run: cm.deleteGroupForward, preventDefault: true },
  { mac: 'Mod-Backspace', run: cm.deleteLineBoundaryBackward, preventDefault: true },
  { mac: 'Mod-Delete', run: cm.deleteLineBoundaryForward, preventDefault: true },
  { key: 'Shift-Alt-ArrowUp', run: cm.copyLineUp },
  { key: 'Shift-Alt-ArrowDown', run: cm.copyLineDown },
  { key: 'Alt-l', mac: 'Ctrl-l', run: cm.selectLine },
  { key: 'Shift-Mod-k', run: cm.deleteLine },
  { key: 'Mod-/', run: cm.toggleLineComment },
  ...cm.historyKeymap,
];

/** Of what a person sees as one character, or of the selection. */
function deleteCharacter(isForward: boolean): cm.Command {
  return ({ state, dispatch }) => {
    const change = state.changeByRange((range) => {
      const next = range.empty ? besideOf(state.doc, range.head, isForward) : range.anchor;
      const from = Math.min(range.head, next);
      const to = Math.max(range.head, next);
      return from === to ? { range } : { changes: { from, to }, range: cm.EditorSelection.cursor(from) };
    });
    if (change.changes.empty) return false;
    dispatch(
      state.update(change, { scrollIntoView: true, userEvent: isForward ? 'delete.forward' : 'delete.backward' }),
    );
    return true;
  };
}

/** The next place before or behind one, over the end of a line too; the same at the end of the text. */
function besideOf(text: cm.Text, place: number, isForward: boolean): number {
  const line = text.lineAt(place);
  const beside = line.from + cm.findClusterBreak(line.text, place - line.from, isForward);
  if (beside !== place) return beside;
  return isForward ? Math.min(text.length, place + 1) : Math.max(0, place - 1);
}
