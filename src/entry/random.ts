export const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))

/** Many numbers are drawn at once, because an id needs sixteen of them, and an order a dozen ids. */
const drawn = new Uint32Array(1024)
let used = drawn.length

/** From 0 up to 1, unpredictable. */
export function random(): number {
  if (used === drawn.length) {
    crypto.getRandomValues(drawn)
    used = 0
  }
  return (drawn[used++] ?? 0) / 2 ** 32
}
