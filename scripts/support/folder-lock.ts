import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Holder {
  pid: number
  /** When the process began, where the machine knows it: numbers of processes are used again. */
  started: string
}

/** Field 22 of the status of a process, counted after its name, which may hold spaces. */
function startOf(pid: number): string {
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
    // A process of another user exists too.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return started === startOf(pid)
}

/** The process that holds the lock; null for a missing or incomplete lock. */
function holderOf(file: string): Holder | null {
  try {
    const { pid, started } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder>
    return Number.isInteger(pid) && (pid as number) > 0 ? { pid: pid as number, started: started ?? '' } : null
  } catch {
    return null
  }
}

/** Whether it was not there before. A link is made whole or not at all, and never over another file. */
function made(file: string, own: string): boolean {
  try {
    linkSync(own, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Removes the lock of a process that is gone. What another process has put there meanwhile goes back. */
function dropStale(file: string, aside: string): void {
  try {
    renameSync(file, aside)
  } catch {
    return
  }
  const holder = holderOf(aside)
  if (holder && isAlive(holder)) made(file, aside)
  rmSync(aside, { force: true })
}

const attempts = 5

/** Keeps other servers from the folder until the returned function is called, or this process ends. */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'lock.json')
  const own = join(folder, `lock.${process.pid}.json`)
  const me: Holder = { pid: process.pid, started: startOf(process.pid) }
  writeFileSync(own, JSON.stringify(me), { mode: 0o600 })
  try {
    for (let attempt = 1; ; attempt++) {
      if (made(file, own)) return () => rmSync(file, { force: true })
      const holder = holderOf(file)
      if ((holder && isAlive(holder)) || attempt === attempts)
        throw new Error(
          `${folder} is in use by another server (process ${holder?.pid ?? 'unknown'}). Stop that one, or choose another folder: STATE_DIR=… npm start`,
        )
      dropStale(file, `${own}.stale`)
    }
  } finally {
    rmSync(own, { force: true })
  }
}
