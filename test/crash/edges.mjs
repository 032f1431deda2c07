// Computes the edges of a batch from its number, so that the writing process and the process that
// checks its work agree on them.

/** Returns the number of rows in a batch, 1 to 300. */
export function batchRows(batch) {
  return 1 + ((batch * 7919) % 300);
}

/**
 * Returns one edge of a batch. Its `weight` encodes batch and index. Times increase from batch to
 * batch, except for some late edges, so that compactions rewrite older segments too.
 */
export function edgeOf(batch, index) {
  const late = (batch * 31 + index) % 17 === 0 ? 5000 : 0;
  const event_ts = Math.max(0, batch * 20 + (index % 20) - late);
  const members = [index % 50, 1000 + ((batch * 13 + index) % 997), 5000 + batch];
  return { event_ts, members, properties: { weight: batch * 1000 + index, formation: index % 3 === 0 ? `row ${index}` : null } };
}

/**
 * Returns the earlier batch whose edges a transaction deletes after this batch, or null if there
 * is no such transaction. From batch 29 on, every tenth batch has one.
 */
export function deletedAfter(batch) {
  return batch % 10 === 9 && batch >= 20 ? batch - 7 : null;
}

/**
 * Returns whether the transaction deletes the edge with this index. Either all such edges of a
 * batch are deleted or none.
 */
export function isDeleted(index) {
  return index % 2 === 0;
}
