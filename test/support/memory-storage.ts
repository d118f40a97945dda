import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const memory = '/dev/shm'
/** Tests store some megabytes; containers may have no more than 64 in all. */
const room = 2 ** 30

const hasRoom = (): boolean => {
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= room
}

/**
 * Lets the local runtime keep its databases and buckets in memory, where the system offers it: each transaction would
 * wait for a disk. `TMPDIR` says otherwise.
 */
export function storeInMemory(): void {
  if (process.env['TMPDIR'] || !existsSync(memory) || !hasRoom()) return
  const folder = mkdtempSync(join(memory, 'tests-'))
  process.env['TMPDIR'] = folder
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
}
