// Names each request: the id the client sent when it is sane, else one made from a random prefix and a counter.

const LONGEST = 128;

/** Makes ids that are unique in this process and, by the prefix, very likely elsewhere. */
export function requestIds(randomPrefix: string): (sent: string) => string {
  let count = 0;
  return (sent) => {
    if (sent !== '' && isSane(sent)) return sent;
    count += 1;
    return `${randomPrefix}-${count}`;
  };
}

/** Printable ASCII only: the id goes back in a header, where a line break would start another header. */
function isSane(id: string): boolean {
  if (id.length > LONGEST) return false;
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}
