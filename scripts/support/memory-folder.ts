import { existsSync, statfsSync } from 'node:fs'

/** The folder in which Linux keeps files in memory. */
const memory = '/dev/shm'

/**
 * Finds a folder whose files are kept in memory and that has this many free bytes, or null. On a disk the single thread of
 * the local runtime waits for the disk at each transaction.
 */
export function findMemoryFolder(bytesNeeded: number): string | null {
  if (process.platform !== 'linux' || !existsSync(memory)) return null
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= bytesNeeded ? memory : null
}
