// The edges of batch b, the same in the writing process and in the one that checks them.

/** Rows in a batch: 1 to 300. */
export function batchRows(batch) {
  return 1 + ((batch * 7919) % 300);
}

/**
 * `weight` encodes batch and index. Times increase, with some late ones, so that compactions
 * rewrite older segments too.
 */
export function edgeOf(batch, index) {
  const late = (batch * 31 + index) % 17 === 0 ? 5000 : 0;
  const event_ts = Math.max(0, batch * 20 + (index % 20) - late);
  const members = [index % 50, 1000 + ((batch * 13 + index) % 997), 5000 + batch];
  return { event_ts, members, properties: { weight: batch * 1000 + index, formation: index % 3 === 0 ? `row ${index}` : null } };
}

/**
 * Every tenth batch is followed by a transaction that deletes edges of an earlier batch. Returns
 * that batch, or null if there is no such transaction.
 */
export function deletedAfter(batch) {
  return batch % 10 === 9 && batch >= 20 ? batch - 7 : null;
}

/**
 * Whether the transaction deletes this index of the batch. It deletes all such edges, so that it
 * must be visible as a whole or not at all.
 */
export function isDeleted(index) {
  return index % 2 === 0;
}
