import { expect } from 'vitest'
import { payloadSchema } from '../../src/modules/webhooks/events/payload-contract.ts'
import { listEvents } from './webhook-rows.ts'

/** Lists the stored events of an organisation that begin so, and checks each against the schema of its kind. */
export async function listAnnounced(organizationId: string, prefix = '') {
  const events = await listEvents(organizationId)
  return events
    .filter(({ kind }) => kind.startsWith(prefix))
    .map(({ kind, payload, edition_id }) => {
      const event = payloadSchema(kind).strict().parse(JSON.parse(payload))
      expect([event.type, event.edition_id]).toEqual([kind, edition_id])
      const data: Record<string, unknown> = event.data
      return { kind, edition_id, data }
    })
}

export const listAnnouncedKinds = async (organizationId: string, prefix = ''): Promise<string[]> =>
  (await listAnnounced(organizationId, prefix)).map(({ kind }) => kind)
