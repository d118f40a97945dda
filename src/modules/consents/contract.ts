import { z } from '@hono/zod-openapi'
import { organizationManagersAndEditionAdmins, roleCodes } from '../../domain/accounts/access.ts'
import {
  collectPoints,
  consentTypes,
  legalBases,
  maxConsentKeyLength,
  maxConsentLinkLength,
  maxConsentNameLength,
  maxConsentTextLength,
  maxConsentTitleLength,
  maxExpiresAfterDays,
} from '../../domain/consents/consents.ts'
import { channels } from '../../domain/messaging/messaging.ts'
import { isWebAddress } from '../../domain/text/text.ts'
import {
  EditionSummary,
  Id,
  IdParams,
  JsonObject,
  OrganizationSummary,
  orNull,
  RequiredText,
  Timestamp,
  Translated,
} from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import {
  BooleanFilter,
  ListPage,
  type ListRequest,
  IdFilter,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'

const Title = Translated(maxConsentTitleLength).openapi({ example: { en: 'Newsletter', da: 'Nyhedsbrev' } })
const Text = Translated(maxConsentTextLength).openapi({
  description: 'The text that people see, by language.',
  example: { en: 'Write to me about coming editions.', da: 'Skriv til mig om kommende udgaver.' },
})
const LinkUrl = Translated(maxConsentLinkLength)
  .superRefine((links, context) => {
    for (const [language, link] of Object.entries(links))
      if (link !== '' && !isWebAddress(link))
        context.addIssue({
          code: 'custom',
          path: [language],
          params: { code: 'malformed_url' },
          message: 'The link must begin with https:// or http://.',
        })
  })
  .openapi({ description: 'A link to more information, by language.', example: { en: 'https://example.com/privacy' } })

/** A list of choices in any order, each at most once. */
const Choices = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z
    .array(z.enum(names))
    .max(names.length)
    .refine((points) => new Set(points).size === points.length, {
      params: { code: 'repeated' },
      message: 'Each value may occur only once.',
    })
    .openapi({ uniqueItems: true })

const Channels = Choices(channels).openapi({
  description: 'The channels through which a marketing consent allows messages.',
  example: ['email'],
})
const CollectAt = Choices(collectPoints).openapi({
  description: 'Where people are asked for the consent.',
  example: ['checkout'],
})
const Position = z.int().min(0).max(1_000_000).openapi({ description: 'Consents with a lower position come first.' })
const ExpiresAfterDays = z.int().min(1).max(maxExpiresAfterDays)
const Type = z.enum(consentTypes)
const LegalBasis = z.enum(legalBases)
const ReconsentOnChange = z.boolean().openapi({
  description: 'Whether a change of the wording makes earlier answers invalid, so that people have to be asked again.',
})

const Stats = z
  .object({ given: z.int(), skipped: z.int(), withdrawn: z.int(), expired: z.int() })
  .openapi('ConsentStats', { description: 'The number of people by the status of their answer.' })

const Key = z
  .string()
  .max(maxConsentKeyLength)
  .regex(/^[a-z0-9][a-z0-9_-]*$/, '`key` has lower-case letters, digits, - and _, and begins with a letter or digit.')
  .openapi({
    description: 'The name of the consent in expressions and imports: `consents.<key>`. It cannot be changed.',
    example: 'newsletter',
  })

const Name = RequiredText(maxConsentNameLength)

export const Consent = z
  .object({
    id: Id('con'),
    organization: OrganizationSummary,
    edition: orNull(EditionSummary).openapi({ description: 'Null for a consent of the whole organisation.' }),
    key: Key,
    name: Name,
    title: Title,
    text: Text,
    link_url: LinkUrl,
    type: Type,
    channels: Channels,
    legal_basis: LegalBasis,
    is_required: z.boolean(),
    is_active: z.boolean(),
    collect_at: CollectAt,
    position: Position,
    expires_after_days: ExpiresAfterDays.nullable().openapi({
      description: 'The number of days after which a given consent expires. Null for a consent that does not expire.',
      example: 730,
    }),
    reconsent_on_change: ReconsentOnChange,
    version: z.int().openapi({ description: 'The version of the wording.' }),
    content_hash: z.string().openapi({ description: 'The SHA-256 of the wording, in hexadecimal.' }),
    stats: orNull(Stats).openapi({
      description: 'Null for a consent of the organisation when you only have a role in an edition.',
    }),
    has_records: z.boolean(),
    metadata: JsonObject,
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('Consent')

const CreateConsent = z.object({
  organization_id: Id('org'),
  edition_id: Id('edt')
    .nullable()
    .optional()
    .openapi({ description: 'The edition that owns the consent. Omit it for a consent of the whole organisation.' }),
  key: Key,
  name: Name,
  title: Title.default({}),
  text: Text,
  link_url: LinkUrl.default({}),
  type: Type,
  channels: Channels.default([]),
  legal_basis: LegalBasis.default('consent'),
  is_required: z.boolean().default(false),
  is_active: z.boolean().default(true),
  collect_at: CollectAt.default([]),
  position: Position.default(0),
  expires_after_days: ExpiresAfterDays.nullable().default(null),
  reconsent_on_change: ReconsentOnChange.default(false),
  metadata: JsonObject.default({}),
})

const UpdateConsent = z.object({
  name: Name.optional(),
  title: Title.optional(),
  text: Text.optional(),
  link_url: LinkUrl.optional(),
  type: Type.optional(),
  channels: Channels.optional(),
  legal_basis: LegalBasis.optional(),
  is_required: z.boolean().optional(),
  is_active: z.boolean().optional(),
  collect_at: CollectAt.optional(),
  position: Position.optional(),
  expires_after_days: ExpiresAfterDays.nullable().optional(),
  reconsent_on_change: ReconsentOnChange.optional(),
  metadata: JsonObject.optional(),
})

export type CreateConsentInput = z.output<typeof CreateConsent>
export type UpdateConsentInput = z.output<typeof UpdateConsent>

const tag = 'Consents' as const

const example = {
  organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
  edition_id: null,
  key: 'newsletter',
  name: 'Newsletter',
  title: { en: 'Newsletter' },
  text: { en: 'Write to me about coming editions.' },
  type: 'marketing',
  channels: ['email'],
  collect_at: ['checkout'],
  expires_after_days: 730,
}

export const listConsents = operation({
  id: 'listConsents',
  tag,
  method: 'get',
  path: '/v1/consents',
  summary: 'List consents',
  description:
    'Lists the consents that people are asked for. With a role in an edition you also see the consents of the organisation.',
  roles: roleCodes,
  query: listQuery({
    ordering: ['created', 'modified', 'name', 'position'],
    filters: {
      organization_id: IdFilter.optional(),
      edition_id: IdFilter.optional(),
      type: Type.optional(),
      is_active: BooleanFilter.optional(),
      search: TextFilter.optional().openapi({ description: 'Finds consents whose key or name contains this text.' }),
    },
  }),
  response: ListPage(Consent),
})

export type ConsentQuery = ListRequest<typeof listConsents.query>

export const createConsent = operation({
  id: 'createConsent',
  tag,
  method: 'post',
  path: '/v1/consents',
  summary: 'Create a consent',
  description: `The consent of an edition needs a text in the edition's default language. A consent of the whole
organisation needs a text in any language. A key is unique in its edition, or among the consents of the organisation.
When an edition and its organisation use the same key, the edition's consent replaces the organisation's in the
edition's expressions, audiences and imports.`,
  roles: organizationManagersAndEditionAdmins,
  status: 201,
  body: CreateConsent,
  example,
  response: Consent,
  errors: ['edition_archived'],
})

export const getConsent = operation({
  id: 'getConsent',
  tag,
  method: 'get',
  path: '/v1/consents/{id}',
  summary: 'Retrieve a consent',
  roles: roleCodes,
  params: IdParams('con'),
  response: Consent,
})

export const updateConsent = operation({
  id: 'updateConsent',
  tag,
  method: 'patch',
  path: '/v1/consents/{id}',
  summary: 'Update a consent',
  description: `Changing \`title\`, \`text\`, \`link_url\` or \`legal_basis\` creates a new version of the wording.
Earlier versions do not change. When you set \`is_active\` to false, nobody is asked for the consent any more. Given
consents still count and can be withdrawn.`,
  roles: organizationManagersAndEditionAdmins,
  params: IdParams('con'),
  body: UpdateConsent,
  example: { text: { en: 'Write to me about coming editions and offers.' } },
  response: Consent,
  errors: ['edition_archived'],
})

export const deleteConsent = operation({
  id: 'deleteConsent',
  tag,
  method: 'delete',
  path: '/v1/consents/{id}',
  summary: 'Delete a consent',
  description:
    'A consent that people have answered cannot be deleted, because it is a proof: 409 `consent_has_records`. Set `is_active` to false instead.',
  agentAccess: 'confirm',
  roles: organizationManagersAndEditionAdmins,
  status: 204,
  params: IdParams('con'),
  errors: ['consent_has_records', 'edition_archived'],
})
