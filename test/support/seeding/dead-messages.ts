import { deadMessages } from '../../../src/db/schema/dead-messages.ts'
import { insertAll } from '../../../src/db/write.ts'
import { newId } from '../../../src/domain/ids.ts'
import { next, seededAt, write } from './rows.ts'

type Row = typeof deadMessages.$inferInsert

/** Seeds messages that failed, some with the same time. */
export async function seedDeadMessages(count: number, columns: Partial<Row> = {}): Promise<Row[]> {
  const rows = Array.from({ length: count }, (): Row => {
    const created_at = columns.created_at ?? seededAt + Math.floor(next() / 3) * 1000
    return {
      id: newId('dead_message', created_at, Math.random),
      queue: 'refunds',
      body: '{"type":"refund.pay"}',
      error: 'refunds could not be paid: D1_ERROR: overloaded',
      retried_at: null,
      created_at,
      ...columns,
    }
  })
  await write(...insertAll(deadMessages, rows))
  return rows
}
