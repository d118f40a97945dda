import { z } from '@hono/zod-openapi'
import { emailTemplateModes } from '../../../domain/editions/edition-copy.ts'
import { Id, IdParams, Name, Slug } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { EditionDetail } from '../contract-resources.ts'

const DuplicateEdition = z.object({
  name: Name,
  slug: Slug.optional().openapi({
    description: 'Made from the full name when absent.',
    example: 'nordlys-festival-2027',
  }),
  event_id: Id('evt').nullable().optional().openapi({
    description: 'An event of the same organisation; the event of the source when null or absent.',
  }),
  email_template_mode: z.enum(emailTemplateModes).default('copy').openapi({
    description: 'Whether the copy gets its own copies of the e-mails that the source sends, or sends the same.',
  }),
})

export type DuplicateEditionInput = z.output<typeof DuplicateEdition>
export const duplicateEdition = operation({
  id: 'duplicateEdition',
  tag: 'Editions',
  method: 'post',
  path: '/v1/editions/{id}/duplicate',
  summary: 'Duplicate an edition',
  description: `Makes a draft with the settings of the source and copies of its categories, products, variants, options, pickup
points, triggers, consents and pass designs. Carts, orders, transactions, customers, campaigns, segments and webhooks are not
copied. Dates are: move them before publishing. An archived source is read like any other; the copy is open.`,
  roles: ['OA', 'OM'],
  status: 201,
  params: IdParams('edt'),
  body: DuplicateEdition,
  example: { name: '2027', email_template_mode: 'copy' },
  response: EditionDetail,
})
