import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

/** Where Linux keeps files in memory. */
const memory = '/dev/shm'
const prefix = 'event-commerce-tests-'

/** The storage of a run takes a few hundred megabytes. */
const bytesNeeded = 2 * 1024 ** 3

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Deletes what runs left that were killed. */
function deleteLeftovers(): void {
  for (const name of readdirSync(memory))
    if (name.startsWith(prefix) && !isRunning(Number(name.slice(prefix.length))))
      rmSync(join(memory, name), { recursive: true, force: true })
}

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize
}

/**
 * Lets the runtime keep its storage in memory, where there is enough of it. On a disk each statement waits until the
 * disk has written, and a test waits longer than it calculates.
 */
export function keepStorageInMemory(): void {
  if (process.platform !== 'linux' || !existsSync(memory)) return
  const folder = join(memory, `${prefix}${process.pid}`)
  if (process.env['TMPDIR'] === folder) return
  deleteLeftovers()
  if (freeBytes() < bytesNeeded) return
  mkdirSync(folder, { recursive: true })
  process.env['TMPDIR'] = folder
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
}
