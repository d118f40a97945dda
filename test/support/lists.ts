import { expect } from 'vitest'
import { call, publicUrl as base, type Reply } from './api.ts'

export { base }

/** Requests an absolute or relative address. */
export const readAs = (token: string, address: string): Promise<Reply> => call(address.replace(base, ''), { token })

/** Lists what names the rows: their ids, or the positions of links. */
export const listIds = (reply: Reply): string[] =>
  (reply.body.results as { id?: string; position?: number }[]).map(({ id, position }) => id ?? String(position))

/** Reads all rows by following `next`. */
export async function walkAs(
  token: string,
  address: string,
): Promise<{ ids: string[]; pages: string[][]; count: number }> {
  const pages: string[][] = []
  let count = -1
  for (let at: string | null = address; at !== null;) {
    const reply: Reply = await readAs(token, at)
    expect(reply.status === 200 || reply.text).toBe(true)
    pages.push(listIds(reply))
    count = reply.body.count
    at = reply.body.next
    if (pages.length > 200) throw new Error('the pages do not end')
  }
  return { ids: pages.flat(), pages, count }
}

/** Compares like a list's ordering: null comes last in both directions. */
export const compareNullsLast =
  (desc: boolean) =>
  (left: unknown, right: unknown): number => {
    if (left === null || right === null) return Number(left === null) - Number(right === null)
    return desc ? compareByCodePoint(right, left) : compareByCodePoint(left, right)
  }

/** Compares like SQLite: text by code point, and null before everything. */
export const compareByCodePoint = (left: unknown, right: unknown): number => {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  const [one, other] = [left, right].map((value) =>
    typeof value === 'boolean'
      ? String(Number(value))
      : typeof value === 'string'
        ? value
        : JSON.stringify(value ?? ''),
  )
  return one === other ? 0 : (one ?? '') < (other ?? '') ? -1 : 1
}
