import { suppressions } from '../../../../src/db/schema/suppressions.ts'
import { insertAll } from '../../../../src/db/write.ts'
import { freshId, next, seededAt, write } from '../rows.ts'

type Row = typeof suppressions.$inferSelect

/** Suppresses new addresses, every second one at the same time as the one before. */
export async function seedSuppressions(
  organization: string,
  count: number,
  columns: Partial<Row> = {},
): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, index): Row => ({
    id: freshId('suppression'),
    organization_id: organization,
    channel: 'email',
    address: `suppressed-${next()}@example.test`,
    reason: 'unsubscribed',
    detail: '',
    campaign_id: null,
    created_at: seededAt + Math.floor(index / 2),
    ...columns,
  }))
  await write(...insertAll(suppressions, rows))
  return rows.map(({ id }) => id)
}
