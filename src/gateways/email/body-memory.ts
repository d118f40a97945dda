/**
 * Bodies of calls are long, and the runtime frees their memory late. So it is used again, once the provider has taken
 * the whole body.
 */
const free: Uint8Array<ArrayBuffer>[] = []
const maxFree = 4
const maxBytesOfFree = 4_000_000
/** Bodies of one campaign differ by little. Without a step each longer one would take memory anew. */
const step = 262_144

export const reserveMemory = (bytes: number): Uint8Array<ArrayBuffer> => {
  const known = free.pop()
  return known && known.length >= bytes ? known : new Uint8Array(Math.ceil(bytes / step) * step)
}

/** Not for a body that may still be on its way: the next one would be written over it. */
export function releaseMemory({ buffer }: Uint8Array<ArrayBuffer>): void {
  if (free.length < maxFree && buffer.byteLength <= maxBytesOfFree) free.push(new Uint8Array(buffer))
}
