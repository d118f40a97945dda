import type { Reply } from './api.ts'

/** Reads the cost of an answer at the database, including the look-up of its caller. */
export interface Cost {
  queries: number
  round_trips: number
  rows_read: number
  rows_written: number
}

export function readCost(reply: Reply): Cost {
  const text = /db;desc="([^"]+)"/.exec(reply.headers.get('server-timing') ?? '')?.[1]
  if (text === undefined) throw new Error('the answer does not contain its cost')
  return Object.fromEntries(
    text.split(' ').map((part) => {
      const [name = '', value] = part.split('=')
      return [name, Number(value)]
    }),
  ) as unknown as Cost
}
