import { setTimeout as wait } from 'node:timers/promises'
import { ApiError, isApiError } from '../../src/index.ts'
import type { Context } from '../context.ts'
import { WorkError } from '../errors.ts'
import { readId, type RowFormat, RowSplitter } from './rows.ts'
import { type Position, start, type Target } from './target.ts'

export interface ExportRequest {
  path: string
  params: { path: Record<string, string>; query: Record<string, string> }
  /** Null for a document without rows. */
  format: RowFormat | null
  /** True if the API continues the export behind an id. */
  isResumable: boolean
}

export interface Size {
  rows: number | null
  bytes: number
}

const firstPauseMs = 500
const maxPauseMs = 30_000
const maxFailures = 9

interface Run {
  context: Context
  request: ExportRequest
  target: Target
  onWrite: (size: Size) => void
}

const countRows = ({ format }: ExportRequest, { rows }: Position): number | null => {
  if (format === null) return null
  return format === 'csv' ? Math.max(0, rows - 1) : rows
}

/** Exports until the file is complete. After a lost connection it continues behind the last complete row. */
export async function runExport(run: Run): Promise<Size> {
  const { request, target } = run
  let { position } = target
  for (let failures = 0; ;) {
    if (!canContinue(request, position)) position = await restart(target)
    const { rows } = position
    try {
      for await (const next of readOnce(run, position)) position = next
      await target.complete()
      return { rows: countRows(request, position), bytes: position.bytes }
    } catch (error) {
      failures = position.rows > rows ? 1 : failures + 1
      if (isLostRow(error, position)) position = await restart(target)
      else if (isFinal(error) || failures > maxFailures) throw error
    }
    await wait(Math.min(firstPauseMs * 2 ** (failures - 1), maxPauseMs))
  }
}

/** True for what another try does not mend: the answer of the API, and a fault of the file. */
const isFinal = (error: unknown): boolean =>
  error instanceof ApiError || error instanceof WorkError || (error instanceof Error && 'syscall' in error)

/** True if nothing is written that another request would repeat. */
const canContinue = (request: ExportRequest, position: Position): boolean =>
  position.bytes === 0 || countRows(request, position) === 0 || findId(request, position) !== null

/** True if the row behind which the export continues was deleted meanwhile. */
const isLostRow = (error: unknown, { last }: Position): boolean =>
  last !== null &&
  isApiError(error) &&
  error.status === 400 &&
  error.errors.some(({ code }) => code === 'does_not_exist')

async function restart(target: Target): Promise<Position> {
  if (await target.restart()) return start
  throw new WorkError(
    'export_interrupted',
    'The export broke off and cannot be continued on stdout. Write it to a file with -o.',
  )
}

/** The id behind which the export continues. Null if it has none yet, or no column with it. */
function findId({ format, isResumable }: ExportRequest, { header, last, rows }: Position): string | null {
  if (format === null || !isResumable || header === null || last === null) return null
  return format === 'csv' && rows < 2 ? null : readId(format, header, last)
}

/** Sends the request once, writes complete rows, and yields each position that is reached. */
async function* readOnce({ context, request, target, onWrite }: Run, from: Position): AsyncGenerator<Position> {
  const { path, params, format } = request
  const after = findId(request, from)
  const get = context.client.GET as unknown as (
    path: string,
    init: object,
  ) => Promise<{ data: AsyncIterable<Uint8Array> }>
  const query = after === null ? params.query : { ...params.query, after }
  const { data } = await get(path, { params: { ...params, query }, parseAs: 'stream' })
  const splitter = format === null ? null : new RowSplitter(format)
  let position = from
  // A continued CSV file has its header again.
  let isHeaderDue = format === 'csv' && from.header !== null
  const write = async (bytes: Uint8Array): Promise<void> => {
    await target.write(bytes)
    position = { ...position, bytes: position.bytes + bytes.length }
    onWrite({ rows: countRows(request, position), bytes: position.bytes })
  }
  for await (const chunk of data) {
    if (splitter === null) await write(chunk)
    else {
      const { bytes, count, first, last, firstLength } = splitter.push(chunk)
      if (count === 0) continue
      const newRows = isHeaderDue ? count - 1 : count
      await write(isHeaderDue ? bytes.subarray(firstLength) : bytes)
      isHeaderDue = false
      position = {
        ...position,
        header: position.header ?? first,
        last: newRows > 0 ? last : position.last,
        rows: position.rows + newRows,
      }
    }
    yield position
  }
  if (splitter !== null && splitter.rest.length > 0 && !isHeaderDue) await write(splitter.rest)
  yield position
}
