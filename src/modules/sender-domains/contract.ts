import { z } from '@hono/zod-openapi'
import {
  checkOutcomes,
  maxSenderDomainLength,
  maxSenderDomains,
  normalizeDomain,
  recordPurposes,
  senderDomainStatuses,
  senderDomainVerifiers,
} from '../../domain/messaging/sender-domains.ts'
import { Id, IdParams, orNull, Timestamp } from '../../http/fields.ts'
import { type ListRequest, ListPage, listQuery } from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'

const DnsRecord = z
  .object({
    purpose: z
      .enum(recordPurposes)
      .openapi({ description: '`ownership` is what verifying looks for; the others are those of the provider.' }),
    type: z.string().openapi({ example: 'TXT' }),
    name: z.string().openapi({ example: '_event-commerce.nordlys.dk' }),
    value: z.string().openapi({ example: 'event-commerce-domain=6f1d2c3b8a9e4f009d6b0c1a2b3c4d5e' }),
    priority: z.int().nullable().openapi({ description: 'Of an MX record; null for others.' }),
  })
  .openapi('SenderDomainRecord')

const SenderDomainCheck = z
  .object({ at: Timestamp, outcome: z.enum(checkOutcomes), detail: z.string() })
  .openapi('SenderDomainCheck')

export const SenderDomain = z
  .object({
    id: Id('sdm'),
    organization_id: Id('org'),
    domain: z.string().max(maxSenderDomainLength).openapi({ example: 'nordlys.dk' }),
    status: z.enum(senderDomainStatuses),
    verified_by: z.enum(senderDomainVerifiers).nullable().openapi({ description: 'Null until it is verified.' }),
    verified_at: Timestamp.nullable().openapi({ description: 'Null until it is verified.' }),
    last_check: orNull(SenderDomainCheck).openapi({ description: 'Null until it is checked.' }),
    records: z.array(DnsRecord),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('SenderDomain')

const Domain = z
  .string()
  .max(255)
  .transform((text, context) => {
    const domain = normalizeDomain(text)
    if (domain !== null) return domain
    context.addIssue({
      code: 'custom',
      params: { code: 'invalid_domain' },
      message: 'A domain with at least one dot, as in nordlys.dk.',
    })
    return z.NEVER
  })
  .openapi({ example: 'nordlys.dk' })

/** The body of `PUT /dev/dns/{name}`. */
export const CapturedTexts = z.object({ texts: z.array(z.string().max(4096)).max(100) })

const CreateSenderDomain = z.object({ domain: Domain })

const VerifySenderDomain = z.object({
  by_hand: z.boolean().default(false).openapi({
    description: 'For the superuser of the platform: verifies without asking the name system.',
  }),
})

export type CreateSenderDomainInput = z.output<typeof CreateSenderDomain>
export type VerifySenderDomainInput = z.output<typeof VerifySenderDomain>

const tag = 'Organizations' as const
const path = '/v1/organizations/{id}/sender-domains'
const params = IdParams('org').extend({
  domain_id: z
    .string()
    .openapi({ param: { name: 'domain_id', in: 'path' }, example: 'sdm_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' }),
})

export const listSenderDomains = operation({
  id: 'listSenderDomains',
  tag,
  method: 'get',
  path,
  summary: 'List sender domains',
  roles: ['OA', 'OM', 'OV'],
  params: IdParams('org'),
  query: listQuery({
    ordering: ['created', 'domain'],
    filters: { status: z.enum(senderDomainStatuses).optional() },
  }),
  response: ListPage(SenderDomain),
})

export type SenderDomainQuery = ListRequest<typeof listSenderDomains.query>

export const createSenderDomain = operation({
  id: 'createSenderDomain',
  tag,
  method: 'post',
  path,
  summary: 'Add a sender domain',
  description: `E-mails of the organisation's editions come from addresses of verified domains only; a domain covers itself and none
below it. The answer has the \`records\` to set. An organisation has at most ${maxSenderDomains}: 409 \`too_many_sender_domains\`.`,
  roles: ['OA'],
  status: 201,
  params: IdParams('org'),
  body: CreateSenderDomain,
  example: { domain: 'nordlys.dk' },
  response: SenderDomain,
  errors: ['too_many_sender_domains'],
})

export const getSenderDomain = operation({
  id: 'getSenderDomain',
  tag,
  method: 'get',
  path: `${path}/{domain_id}`,
  summary: 'Retrieve a sender domain',
  roles: ['OA', 'OM', 'OV'],
  params,
  response: SenderDomain,
})

export const verifySenderDomain = operation({
  id: 'verifySenderDomain',
  tag,
  method: 'post',
  path: `${path}/{domain_id}/verify`,
  summary: 'Verify a sender domain',
  description: `Looks for the TXT record; \`status\` and \`last_check\` say what was found. A verified domain whose record is gone is \`pending\`
again, unless the superuser has verified it; a name system that does not answer changes no status. A domain that another
organisation has verified is 409 \`sender_domain_taken\` while that one's record stands, and passes over once it is gone.`,
  roles: ['OA'],
  params,
  body: VerifySenderDomain,
  example: {},
  response: SenderDomain,
  errors: ['sender_domain_taken'],
})

export const deleteSenderDomain = operation({
  id: 'deleteSenderDomain',
  tag,
  method: 'delete',
  path: `${path}/{domain_id}`,
  summary: 'Remove a sender domain',
  description: 'From then on e-mails with an address of it come from the address of the platform.',
  roles: ['OA'],
  status: 204,
  params,
})
