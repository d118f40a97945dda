import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { findMemoryFolder } from '../../scripts/support/memory-folder.ts'

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

/** Deletes the storage of runs that were killed. */
function deleteLeftovers(memory: string): void {
  for (const name of readdirSync(memory))
    if (name.startsWith(prefix) && !isRunning(Number(name.slice(prefix.length))))
      rmSync(join(memory, name), { recursive: true, force: true })
}

/**
 * Lets the runtime keep its storage in memory when there is enough, because on a disk a test waits longer than it
 * calculates.
 */
export function keepStorageInMemory(): void {
  const memory = findMemoryFolder(0)
  if (memory === null) return
  const folder = join(memory, `${prefix}${process.pid}`)
  if (process.env['TMPDIR'] === folder) return
  deleteLeftovers(memory)
  if (findMemoryFolder(bytesNeeded) === null) return
  mkdirSync(folder, { recursive: true })
  process.env['TMPDIR'] = folder
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
}
