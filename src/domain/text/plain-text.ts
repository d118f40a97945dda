/** Line breaks and tabs part words; other control characters and marks that are not seen have no place in plain text. */
const breaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/gu
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu

/** The first bytes of UTF-8 as one line of plain text, of at most as many bytes, cut between characters. */
export function toPlainText(bytes: Uint8Array, maxBytes: number): string {
  if (bytes.length === 0) return ''
  // A character that the cut divides stays out: the decoder waits for the rest of it.
  const text = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true })
  const plain = text.replaceAll(breaks, ' ').replaceAll(unseen, '').trim()
  // Replacement characters are longer than the bytes that they replace.
  const again = new TextEncoder().encode(plain)
  return again.length <= maxBytes
    ? plain
    : new TextDecoder().decode(again.subarray(0, maxBytes), { stream: true }).trimEnd()
}
