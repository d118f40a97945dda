import { eq, getTableColumns } from 'drizzle-orm'
import { segments } from '../../../../src/db/schema/segments.ts'
import { select } from '../../../../src/db/select.ts'
import { insertAll } from '../../../../src/db/write.ts'
import { buildSearchText, buildSortKey } from '../../../../src/domain/text/fold.ts'
import { create } from '../../api.ts'
import { db, freshId, next, seededAt, type WidePlace, write } from '../rows.ts'

export type SegmentRow = typeof segments.$inferSelect

export const givenSegment = (fields: Record<string, unknown>, token?: string) =>
  create(
    '/v1/segments',
    {
      name: 'Everyone',
      communication_type: 'transactional',
      communication_channel: 'email',
      expression: 'user.is_active || !user.is_active',
      ...fields,
    },
    token,
  )

export async function seedSegments(
  place: WidePlace,
  count: number,
  columns: Partial<SegmentRow> = {},
): Promise<string[]> {
  const rows = Array.from({ length: count }, () => {
    const number = next()
    const at = seededAt + Math.floor(number / 3) * 1000
    const { name = `Segment ${Math.floor(number / 2)}` } = columns
    return {
      id: freshId('segment'),
      organization_id: place.organization,
      edition_id: place.edition,
      name,
      name_key: buildSortKey(name),
      search: buildSearchText(name),
      communication_type: 'transactional' as const,
      communication_channel: 'email' as const,
      expression: 'user.is_active',
      is_time_dependent: false,
      status: 'draft' as const,
      user_count: number % 3,
      calculated_at: number % 2 ? at : null,
      created_at: at,
      modified_at: at + (number % 2),
      ...columns,
    }
  })
  await write(...insertAll(segments, rows))
  return rows.map(({ id }) => id)
}

export async function seedSegment(place: WidePlace, columns: Partial<SegmentRow> = {}): Promise<SegmentRow> {
  const [id = ''] = await seedSegments(place, 1, columns)
  const row = await db.first(select(getTableColumns(segments)).from(segments).where(eq(segments.id, id)))
  if (!row) throw new Error('no segment was made')
  return row
}
