import { rootToken, type Reply } from '../api.ts'
import { readAs } from '../lists.ts'

/** Reads all rows of a list in its default ordering. */
export async function readAll(path: string, token = rootToken): Promise<Reply['body'][]> {
  const rows: Reply['body'][] = []
  const separator = path.includes('?') ? '&' : '?'
  const start = path.startsWith('/v1/user') ? path : `${path}${separator}page_size=500`
  for (let at: string | null = start; at !== null;) {
    const reply: Reply = await readAs(token, at)
    if (reply.status !== 200) throw new Error(`${at} answered ${reply.text}`)
    rows.push(...reply.body.results)
    at = reply.body.next
  }
  return rows
}
