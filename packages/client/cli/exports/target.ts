import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { UsageError } from '../errors.ts'
import { openByteOutput } from '../output.ts'
import { openState } from '../state.ts'
import { type RowFormat, RowSplitter } from './rows.ts'

const maxAgeMs = 86_400_000

/** The position up to which a file of rows is written. */
export interface Position {
  /** Null before the first row. */
  header: string | null
  last: string | null
  /** Counts the header of a CSV file. */
  rows: number
  bytes: number
}

export const start: Position = { header: null, last: null, rows: 0, bytes: 0 }

/** The file or stream to which an export is written. */
export interface Target {
  /** Continues an earlier export, or begins. */
  position: Position
  write: (bytes: Uint8Array) => Promise<void>
  /** Begins again. False if what was written cannot be taken back. */
  restart: () => Promise<boolean>
  complete: () => Promise<void>
  close: () => Promise<void>
}

export function openStdout(): Target {
  const write = openByteOutput()
  let hasOutput = false
  return {
    position: start,
    write: (bytes) => {
      hasOutput ||= bytes.length > 0
      return write(bytes)
    },
    restart: () => Promise.resolve(!hasOutput),
    complete: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

/** The rows of an older file may be out of date. */
async function isRecent(path: string): Promise<boolean> {
  const info = await stat(path).catch(() => null)
  return info !== null && Date.now() - info.mtimeMs < maxAgeMs
}

/** Reads how far an interrupted export was written. A row that was cut off does not count. */
async function readPosition(path: string, format: RowFormat): Promise<Position> {
  const splitter = new RowSplitter(format)
  let position = start
  for await (const chunk of createReadStream(path)) {
    const { bytes, count, first, last } = splitter.push(chunk as Buffer)
    position = {
      header: position.header ?? first,
      last: last ?? position.last,
      rows: position.rows + count,
      bytes: position.bytes + bytes.length,
    }
  }
  return position
}

interface Draft {
  /** The hash of the request. */
  request: string
  pid: number
}

/** True if another process of this person runs under the number. */
function isRunning(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Two programs that write the same file would leave holes in it. */
async function checkPath(path: string, draft: string, owner: Draft | null): Promise<void> {
  const info = await stat(path).catch(() => null)
  if (info?.isDirectory()) throw new UsageError(`${path} is a folder. Name a file in it.`)
  const isDraft = (await stat(draft).catch(() => null)) !== null
  if (owner !== null && isDraft && isRunning(owner.pid))
    throw new UsageError(`Process ${owner.pid} writes ${draft}. End it, or delete that file to begin again.`)
}

/**
 * Opens a file that gets its name once it is complete, and is `<name>.part` until then. `request` says what is exported,
 * so that only an export of the same continues it. Null for a format that cannot be continued.
 */
export async function openFile(path: string, request: readonly string[], format: RowFormat | null): Promise<Target> {
  const draft = `${path}.part`
  const state = openState<Draft>('exports', [resolve(path)])
  const owner = await state.read()
  await checkPath(path, draft, owner)
  const hash = createHash('sha256').update(JSON.stringify(request)).digest('hex')
  const isContinued = format !== null && owner?.request === hash && (await isRecent(draft))
  const handle = await open(draft, isContinued ? 'r+' : 'w').catch((error: unknown) => {
    throw new UsageError(`${draft} cannot be written.`, { cause: error })
  })
  await state.write({ request: hash, pid: process.pid })
  const position = isContinued ? await readPosition(draft, format) : start
  await handle.truncate(position.bytes)
  let offset = position.bytes
  return {
    position,
    write: async (bytes) => {
      // A write may take fewer bytes than it is given.
      for (let count = 0; count < bytes.length;) {
        const { bytesWritten } = await handle.write(bytes, count, bytes.length - count, offset)
        count += bytesWritten
        offset += bytesWritten
      }
    },
    restart: async () => {
      await handle.truncate(0)
      offset = 0
      return true
    },
    complete: async () => {
      await handle.sync()
      await rename(draft, path)
      await state.remove()
    },
    close: () => handle.close(),
  }
}
