import { z } from '@hono/zod-openapi'
import type { RoleCode } from '../../domain/accounts/access.ts'
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
import {
  BooleanFilter,
  ListPage,
  type ListFilters,
  IdFilter,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'

const Title = Translated(maxConsentTitleLength).openapi({ example: { en: 'Newsletter', da: 'Nyhedsbrev' } })
const Text = Translated(maxConsentTextLength).openapi({
  description: 'What people are shown, by language.',
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
          message: 'An address that begins with https:// or http://.',
        })
  })
  .openapi({ description: 'Where more can be read, by language.', example: { en: 'https://example.com/privacy' } })

/** Choices in any order, each once. */
const Choices = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z
    .array(z.enum(names))
    .max(names.length)
    .refine((chosen) => new Set(chosen).size === chosen.length, {
      params: { code: 'repeated' },
      message: 'Each once.',
    })
    .openapi({ uniqueItems: true })

const Channels = Choices(channels).openapi({ description: 'Through which marketing may come.', example: ['email'] })
const CollectAt = Choices(collectPoints).openapi({ description: 'Where it is asked for.', example: ['checkout'] })
const Position = z.int().min(0).max(1_000_000).openapi({ description: 'Smaller ones are asked for first.' })
const ExpiresAfterDays = z.int().min(1).max(maxExpiresAfterDays)
const Type = z.enum(consentTypes)
const LegalBasis = z.enum(legalBases)
const ReconsentOnChange = z
  .boolean()
  .openapi({ description: 'Whether an answer to an earlier wording counts no more once the wording changes.' })

const Stats = z
  .object({ given: z.int(), skipped: z.int(), withdrawn: z.int(), expired: z.int() })
  .openapi('ConsentStats', { description: 'How many people stand how to it.' })

const Key = z
  .string()
  .max(maxConsentKeyLength)
  .regex(/^[a-z0-9][a-z0-9_-]*$/, 'Lower-case letters, digits, - and _; a letter or a digit first.')
  .openapi({ description: 'As `consents.<key>` in expressions and imports; it stays as it is.', example: 'newsletter' })

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
      description: 'Null for a consent that does not end by itself.',
      example: 730,
    }),
    reconsent_on_change: ReconsentOnChange,
    version: z.int().openapi({ description: 'Of the wording.' }),
    content_hash: z.string().openapi({ description: 'SHA-256 of the wording, in hexadecimal.' }),
    stats: orNull(Stats).openapi({
      description: "Null for the organisation's consents where the caller has a role of an edition alone.",
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
    .openapi({ description: 'Without it the whole organisation asks for it.' }),
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
const readers: readonly RoleCode[] = ['OA', 'OM', 'OV', 'EA', 'EM', 'EV']
const writers: readonly RoleCode[] = ['OA', 'OM', 'EA']

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
  description: 'What people are asked to agree to. Roles of an edition see those of the organisation too.',
  roles: readers,
  query: listQuery({
    ordering: ['created', 'modified', 'name', 'position'],
    filters: {
      organization_id: IdFilter.optional(),
      edition_id: IdFilter.optional(),
      type: Type.optional(),
      is_active: BooleanFilter.optional(),
      search: TextFilter.optional().openapi({ description: 'Part of the key or the name.' }),
    },
  }),
  response: ListPage(Consent),
})

export type ConsentFilters = ListFilters<typeof listConsents.query>

export const createConsent = operation({
  id: 'createConsent',
  tag,
  method: 'post',
  path: '/v1/consents',
  summary: 'Create a consent',
  description: `The text has to be there in the default language of the edition; of the whole organisation, in any language.
A key is unique in its edition, or among the consents of the organisation. Where both have one with the same key, that of
the edition stands in the place of the organisation's: in its expressions, audiences and imports.`,
  roles: writers,
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
  roles: readers,
  params: IdParams('con'),
  response: Consent,
})

export const updateConsent = operation({
  id: 'updateConsent',
  tag,
  method: 'patch',
  path: '/v1/consents/{id}',
  summary: 'Update a consent',
  description: `A change of \`title\`, \`text\`, \`link_url\` or \`legal_basis\` makes a new version of the wording; earlier ones are kept as they were.
\`is_active\` false stops asking: answers that were given keep counting, and can be withdrawn.`,
  roles: writers,
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
  description: 'A consent with answers stays as proof: 409 `consent_has_records`. Set `is_active` to false.',
  roles: writers,
  status: 204,
  params: IdParams('con'),
  errors: ['consent_has_records', 'edition_archived'],
})
