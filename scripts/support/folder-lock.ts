import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

interface Holder {
  pid: number
  /** The time at which the process started, because process ids are reused. It is empty when the machine does not tell. */
  started: string
}

/** The words for the process that uses the folder, and the advice for the next one. */
interface User {
  name: string
  advice: string
}

/** Reads field 22 of the status of a process. Fields are counted after the name, which may contain spaces. */
function readStartTime(pid: number): string {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return status.slice(status.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

function isAlive({ pid, started }: Holder): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM means that the process exists and belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return started === readStartTime(pid)
}

/** Reads which process holds the lock. Returns null for a missing or incomplete lock. */
function readHolder(file: string): Holder | null {
  try {
    const { pid, started } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder>
    return Number.isInteger(pid) && (pid as number) > 0 ? { pid: pid as number, started: started ?? '' } : null
  } catch {
    return null
  }
}

/** Creates the lock and returns true, or returns false when it exists. A link never replaces a file, and is atomic. */
function createLock(file: string, source: string): boolean {
  try {
    linkSync(source, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Removes the lock of a process that has ended. A lock that another process created meanwhile is restored. */
function removeStaleLock(file: string, aside: string): void {
  try {
    renameSync(file, aside)
  } catch {
    return
  }
  const holder = readHolder(aside)
  if (holder && isAlive(holder)) createLock(file, aside)
  rmSync(aside, { force: true })
}

/**
 * Locks a file of the folder in the kernel, until this process ends. Processes of other containers do not see this one, and
 * would take its lock for one that was left behind.
 */
function lockInKernel(folder: string, user: User): DatabaseSync {
  const database = new DatabaseSync(join(folder, 'lock.sqlite'))
  try {
    database.exec('begin exclusive')
    return database
  } catch (error) {
    database.close()
    if (!(error instanceof Error && error.message.includes('locked'))) throw error
    throw new Error(
      `${folder} is in use by another ${user.name} that this one cannot see, such as one in another container. ${user.advice}`,
      { cause: error },
    )
  }
}

const attempts = 5

const server: User = { name: 'server', advice: 'Stop that one, or set STATE_DIR to another folder.' }

function holdLock(folder: string, file: string, user: User): () => void {
  try {
    const database = lockInKernel(folder, user)
    return () => {
      rmSync(file, { force: true })
      if (database.isOpen) database.close()
    }
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  }
}

/** Locks the folder for other processes until the returned function is called or this process ends. */
export function lockFolder(folder: string, user = server): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'lock.json')
  const ownLock = join(folder, `lock.${process.pid}.json`)
  const me: Holder = { pid: process.pid, started: readStartTime(process.pid) }
  try {
    writeFileSync(ownLock, JSON.stringify(me), { mode: 0o600 })
    for (let attempt = 1; ; attempt++) {
      if (createLock(file, ownLock)) return holdLock(folder, file, user)
      const holder = readHolder(file)
      if ((holder && isAlive(holder)) || attempt === attempts)
        throw new Error(
          `${folder} is in use by another ${user.name} (process ${holder?.pid ?? 'unknown'}). ${user.advice}`,
        )
      removeStaleLock(file, `${ownLock}.stale`)
    }
  } finally {
    rmSync(ownLock, { force: true })
  }
}
