import { z } from '@hono/zod-openapi'
import { organizationManagers } from '../../../domain/accounts/access.ts'
import { emailTemplateModes } from '../../../domain/editions/edition-copy.ts'
import { Id, Name, Slug } from '../../../http/fields.ts'
import { action, operation } from '../../../http/operations/operation.ts'
import { EditionDetail } from '../contract-resources.ts'

const DuplicateEdition = z.object({
  name: Name,
  slug: Slug.optional().openapi({
    description: 'By default it is made from the full name.',
    example: 'nordlys-festival-2027',
  }),
  event_id: Id('evt').nullable().optional().openapi({
    description: 'An event of the same organisation. By default, and with null, it is the event of the source.',
  }),
  email_template_mode: z.enum(emailTemplateModes).default('copy').openapi({
    description:
      '`copy`: the new edition gets copies of the e-mails that the source sends. `share`: it sends the same e-mails.',
  }),
})

export type DuplicateEditionInput = z.output<typeof DuplicateEdition>
export const duplicateEdition = operation({
  id: 'duplicateEdition',
  tag: 'Editions',
  ...action('/v1/editions', 'edt', 'duplicate'),
  summary: 'Duplicate an edition',
  description: `Creates a draft with the settings of the source and copies of its categories, products, variants, options, pickup
points, triggers, consents and pass designs. It does not copy carts, orders, transactions, customers, campaigns, segments and
webhooks. Dates are copied, so change them before you publish. The source can be archived. The copy is not.`,
  roles: organizationManagers,
  status: 201,
  body: DuplicateEdition,
  example: { name: '2027', email_template_mode: 'copy' },
  response: EditionDetail,
})
