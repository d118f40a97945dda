import { emailMessages } from '../../../../src/db/schema/email-messages.ts'
import { insertAll } from '../../../../src/db/write.ts'
import type { Block } from '../../../../src/domain/email/blocks/blocks.ts'
import { buildSortKey } from '../../../../src/domain/text/fold.ts'
import { freshId, next, seededTimes, write } from '../rows.ts'

/** The owner of a message: an edition, an organisation, or the platform. */
interface MessagePlace {
  organization: string | null
  edition: string | null
}

type MessageRow = typeof emailMessages.$inferSelect

export const aBlock = (text: string, id = 'blk_1'): Block => ({
  id,
  type: 'rich_text',
  data: { text: { en: `<p>${text}</p>`, da: `<p>${text} på dansk</p>` } },
})

/** Seeds messages of an edition, of an organisation, or of the platform. */
export async function seedMessages(
  { organization, edition }: MessagePlace,
  count: number,
  columns: Partial<MessageRow> = {},
): Promise<string[]> {
  const rows = Array.from({ length: count }, (): MessageRow => {
    const number = next()
    const { title = `Message ${Math.floor(number / 2)}` } = columns
    return {
      id: freshId('email_message'),
      organization_id: organization,
      edition_id: edition,
      title,
      title_key: buildSortKey(title),
      subject: { en: 'Hello {{ customer.first_name }}', da: 'Hej {{ customer.first_name }}' },
      preheader: {},
      type: 'other',
      scope: organization === null ? 'platform' : edition === null ? 'template' : 'edition',
      template: 'modern',
      is_locked: false,
      blocks: [aBlock('Welcome')],
      version: 1,
      modified_by: null,
      ...seededTimes(number),
      ...columns,
    }
  })
  await write(...insertAll(emailMessages, rows))
  return rows.map(({ id }) => id)
}

export async function seedMessage(place: MessagePlace, columns: Partial<MessageRow> = {}): Promise<string> {
  const [id = ''] = await seedMessages(place, 1, columns)
  return id
}

const receiptBlocks: Block[] = [
  {
    id: 'blk_1',
    type: 'rich_text',
    data: {
      text: {
        en: '<p>Dear {{ customer.first_name }}, thank you for order {{ order.number }}.</p>',
        da: '<p>Kære {{ customer.first_name }}, tak for ordre {{ order.number }}.</p>',
      },
    },
  },
  { id: 'blk_2', type: 'order_summary', data: {} },
]

/** Seeds a message for receipts, of any type, of the organisation or, without one, of the platform. */
export const seedReceiptMessage = (
  organization: { id: string } | null,
  columns: Partial<MessageRow> = {},
): Promise<string> =>
  seedMessage(
    { organization: organization?.id ?? null, edition: columns.edition_id ?? null },
    {
      title: 'Receipt',
      subject: { en: 'Your order {{ order.number }}', da: 'Din ordre {{ order.number }}' },
      type: 'receipt',
      scope: organization === null ? 'platform' : 'template',
      blocks: receiptBlocks,
      ...columns,
    },
  )
