// Replaces the selected text when the user types over it. If the browser did so, it would keep the
// look of the old text by inline styles, which the content security policy forbids.

import { EditorView, type Extension } from './code-mirror.ts';

/** Does nothing while an input method composes a character, which the browser displays itself. */
export const typedOver: Extension = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== 'insertText' || event.isComposing || !event.data) return false;
    const { from, to } = selectionIn(event, view);
    if (from >= to) return false;
    view.dispatch({
      changes: { from, to, insert: event.data },
      selection: { anchor: from + event.data.length },
      userEvent: 'input.type',
      scrollIntoView: true,
    });
    event.preventDefault();
    return true;
  },
});

/**
 * Returns the browser's selection, which may be newer than the editor's. If the browser does not
 * report its selection across a shadow tree, returns the editor's.
 */
function selectionIn(event: InputEvent, view: EditorView): { readonly from: number; readonly to: number } {
  const [range] = event.getTargetRanges();
  const isTold =
    range !== undefined &&
    view.contentDOM.contains(range.startContainer) &&
    view.contentDOM.contains(range.endContainer);
  if (!isTold) return view.state.selection.main;
  return {
    from: view.posAtDOM(range.startContainer, range.startOffset),
    to: view.posAtDOM(range.endContainer, range.endOffset),
  };
}
