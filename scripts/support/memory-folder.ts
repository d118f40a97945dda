import { existsSync, statfsSync } from 'node:fs'

/** Where Linux keeps files in memory. */
const memory = '/dev/shm'

/**
 * A folder of which the files are kept in memory, and that has room for so many bytes; otherwise null. On a disk the local
 * runtime waits at each transaction, with the one thread that it has, until the disk has written.
 */
export function memoryFolder(bytesNeeded: number): string | null {
  if (process.platform !== 'linux' || !existsSync(memory)) return null
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= bytesNeeded ? memory : null
}
