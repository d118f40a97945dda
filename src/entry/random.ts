export const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))

/** Numbers are generated in advance, because an id needs sixteen of them and an order has a dozen ids. */
const numbers = new Uint32Array(1024)
let nextIndex = numbers.length

/** A cryptographically random number from 0 up to 1. */
export function random(): number {
  if (nextIndex === numbers.length) {
    crypto.getRandomValues(numbers)
    nextIndex = 0
  }
  return (numbers[nextIndex++] ?? 0) / 2 ** 32
}
