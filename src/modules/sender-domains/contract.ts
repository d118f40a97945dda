import { z } from '@hono/zod-openapi'
import { organizationReaders } from '../../domain/accounts/access.ts'
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
import { operation } from '../../http/operations/operation.ts'
import { type ListRequest, ListPage, listQuery } from '../../http/requests/list-query.ts'

const DnsRecord = z
  .object({
    purpose: z.enum(recordPurposes).openapi({
      description:
        'What the record is for. `ownership` proves that the domain is yours; the e-mail provider needs the others.',
    }),
    type: z.string().openapi({ example: 'TXT' }),
    name: z.string().openapi({ example: '_event-commerce.nordlys.dk' }),
    value: z.string().openapi({ example: 'event-commerce-domain=6f1d2c3b8a9e4f009d6b0c1a2b3c4d5e' }),
    priority: z.int().nullable().openapi({ description: 'The priority of an MX record. Null for other records.' }),
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
    verified_by: z
      .enum(senderDomainVerifiers)
      .nullable()
      .openapi({ description: 'Null until the domain is verified.' }),
    verified_at: Timestamp.nullable().openapi({ description: 'Null until the domain is verified.' }),
    last_check: orNull(SenderDomainCheck).openapi({ description: 'Null until the domain is checked.' }),
    records: z.array(DnsRecord).openapi({ description: 'The DNS records that you have to set.' }),
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
      message: '`domain` must be a domain name with at least one dot, such as nordlys.dk.',
    })
    return z.NEVER
  })
  .openapi({ example: 'nordlys.dk' })

/** The body of `PUT /dev/dns/{name}`. */
export const CapturedTexts = z.object({ texts: z.array(z.string().max(4096)).max(100) })

const CreateSenderDomain = z.object({ domain: Domain })

const VerifySenderDomain = z.object({
  by_hand: z.boolean().default(false).openapi({
    description: 'Verifies the domain without a DNS lookup. Only the superuser of the platform may set it.',
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
  roles: organizationReaders,
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
  description: `E-mails of your editions use a sender address only when its domain is verified. A domain does not
cover its subdomains. Set the DNS \`records\` of the response, then verify the domain. An organisation has at most
${maxSenderDomains} sender domains.`,
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
  roles: organizationReaders,
  params,
  response: SenderDomain,
})

export const verifySenderDomain = operation({
  id: 'verifySenderDomain',
  tag,
  method: 'post',
  path: `${path}/{domain_id}/verify`,
  summary: 'Verify a sender domain',
  description: `Looks for the TXT record of the domain and stores the result in \`status\` and \`last_check\`. A
verified domain whose record is gone becomes \`pending\` again, unless the superuser verified it. When DNS does not
answer, the status stays. While another organisation has verified the domain and its record exists, verifying fails
with 409 \`sender_domain_taken\`.`,
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
  description:
    'E-mails of editions with a sender address in this domain come from the address of the platform from then on.',
  agentAccess: 'confirm',
  roles: ['OA'],
  status: 204,
  params,
})
