import type { Query } from './query.ts'

/** The account of a campaign's object. It alone knows who was sent what, and no restore of the database changes it. */
export interface ObjectState {
  campaign_id: string
  sent: number
}

/** Reads what the objects of these campaigns say, and of campaigns without a row, where the source knows them. */
export type ReadObjects = (campaignIds: readonly string[]) => Promise<ObjectState[]>

/** Asks the service, as the superuser, how many messages the objects of campaigns have sent. */
export const readObjectsByApi =
  (get: (path: string) => Promise<{ status: number; body: { count: number } }>): ReadObjects =>
  async (campaignIds) => {
    const states: ObjectState[] = []
    for (const campaign_id of campaignIds) {
      const path = `/v1/campaigns/${campaign_id}/recipients?state=sent&page_size=1`
      const { status, body } = await get(path)
      if (status !== 200)
        throw new Error(`The service answered ${status} for ${path}. Check PUBLIC_URL and ROOT_TOKEN.`)
      states.push({ campaign_id, sent: body.count })
    }
    return states
  }

interface CampaignRow {
  id: string
  name: string
  status: string
  sent_count: number
}

/** Describes campaigns whose object has sent more than the row says, as after a restore. */
export async function describeObjects(query: Query, readObjects: ReadObjects): Promise<string[]> {
  const rows = await query<CampaignRow>('select id, name, status, sent_count from campaigns order by seq')
  const rowsById = new Map(rows.map((row) => [row.id, row]))
  const lines: string[] = []
  for (const { campaign_id, sent } of await readObjects([...rowsById.keys()])) {
    const row = rowsById.get(campaign_id)
    if (!row && sent > 0)
      lines.push(`${campaign_id} has sent ${sent} messages, and the database does not have the campaign.`)
    if (row && sent > row.sent_count)
      lines.push(
        `${campaign_id} "${row.name}" is ${row.status} with ${row.sent_count} sent messages, and its object has sent ${sent}.`,
      )
  }
  return lines
}
