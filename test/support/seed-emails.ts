import { emailMessages } from '../../src/db/schema/messaging/email-messages.ts'
import { insertAll } from '../../src/db/write.ts'
import type { Block } from '../../src/domain/email/blocks/blocks.ts'
import { freshId, next, seededAt, write } from './seed.ts'

interface Place {
  organization: string | null
  edition: string | null
}

type MessageRow = typeof emailMessages.$inferSelect

export const aBlock = (text: string, id = 'blk_1'): Block => ({
  id,
  type: 'rich_text',
  data: { text: { en: `<p>${text}</p>`, da: `<p>${text} på dansk</p>` } },
})

/** Messages of an edition, of an organisation, or of the platform. */
export async function seedMessages(
  { organization, edition }: Place,
  count: number,
  columns: Partial<MessageRow> = {},
): Promise<string[]> {
  const rows = Array.from({ length: count }, (): MessageRow => {
    const number = next()
    const at = seededAt + Math.floor(number / 3) * 1000
    return {
      id: freshId('email_message'),
      organization_id: organization,
      edition_id: edition,
      title: `Message ${Math.floor(number / 2)}`,
      subject: { en: 'Hello {{ customer.first_name }}', da: 'Hej {{ customer.first_name }}' },
      type: 'other',
      scope: organization === null ? 'platform' : edition === null ? 'template' : 'edition',
      template: 'modern',
      is_locked: false,
      blocks: [aBlock('Welcome')],
      version: 1,
      created_at: at,
      modified_at: at,
      ...columns,
    }
  })
  await write(...insertAll(emailMessages, rows))
  return rows.map(({ id }) => id)
}

export async function seedMessage(place: Place, columns: Partial<MessageRow> = {}): Promise<string> {
  const [id = ''] = await seedMessages(place, 1, columns)
  return id
}
