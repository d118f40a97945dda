import { eq, getTableColumns } from 'drizzle-orm'
import { campaigns } from '../../src/db/schema/messaging/campaigns.ts'
import { segments } from '../../src/db/schema/messaging/segments.ts'
import { select } from '../../src/db/select.ts'
import { insert, insertAll } from '../../src/db/write.ts'
import type { CampaignStatus } from '../../src/domain/campaigns/lifecycle.ts'
import { searchText } from '../../src/domain/text/fold.ts'
import { db, freshId, next, seededAt, write } from './seed.ts'

interface Place {
  organization: string
  edition: string | null
}

export type SegmentRow = typeof segments.$inferSelect

export async function seedSegments(place: Place, count: number, columns: Partial<SegmentRow> = {}): Promise<string[]> {
  const rows = Array.from({ length: count }, () => {
    const number = next()
    const at = seededAt + Math.floor(number / 3) * 1000
    const name = `Segment ${Math.floor(number / 2)}`
    return {
      id: freshId('segment'),
      organization_id: place.organization,
      edition_id: place.edition,
      name,
      search: searchText(name),
      communication_type: 'transactional' as const,
      communication_channel: 'email' as const,
      expression: 'user.is_active',
      is_time_dependent: 0,
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

export async function seedSegment(place: Place, columns: Partial<SegmentRow> = {}): Promise<SegmentRow> {
  const [id = ''] = await seedSegments(place, 1, columns)
  const row = await db().first(select(getTableColumns(segments)).from(segments).where(eq(segments.id, id)))
  if (!row) throw new Error('no segment was made')
  return row
}

export async function seedCampaign(
  place: { organization: string; edition: string },
  segmentId: string,
  status: CampaignStatus,
  name = `Campaign ${next()}`,
): Promise<string> {
  const id = freshId('campaign')
  const stamps = { created_at: seededAt, modified_at: seededAt }
  await write(
    insert(campaigns, {
      id,
      organization_id: place.organization,
      edition_id: place.edition,
      segment_id: segmentId,
      name,
      search: searchText(name),
      channel: 'email',
      sms_sizes: {},
      status,
      ...stamps,
    }),
  )
  return id
}
