import { z } from '@hono/zod-openapi'
import { managers } from '../../domain/accounts/access.ts'
import {
  importedConsentStatuses,
  type ImportedUser,
  maxConsentPlaceLength,
  subscriptionStatuses,
} from '../../domain/accounts/imported-users.ts'
import { maxPhoneLength } from '../../domain/accounts/users.ts'
import { maxConsentKeyLength } from '../../domain/consents/consents.ts'
import type { FieldError } from '../../domain/errors.ts'
import { cleanKey } from '../../domain/text/invisible.ts'
import { Code, EmailAddress, Id, Instant, JsonObject, LanguageInput, PersonName } from '../../http/fields.ts'
import {
  listUnsupported,
  Locale,
  maxPhoneText,
  mergeNames,
  nameFields,
  OptionalEmail,
  pickLanguage,
} from '../../http/imported-people.ts'
import { operation } from '../../http/operations/operation.ts'
import { findUnknownFields } from '../../http/requests/unknown-fields.ts'
import { listFieldErrors } from '../../http/requests/validation.ts'
import { User } from '../users/index.ts'

const Consent = z
  .object({
    status: z.enum(importedConsentStatuses),
    occurred_at: Instant.nullish().openapi({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the person answered. Default: now, and then no consent that was withdrawn is given again.',
    }),
    place: z.string().max(maxConsentPlaceLength).nullish().openapi({
      description: 'Where the person answered, such as a page or a form.',
      example: 'https://example.com/join',
    }),
  })
  .openapi('ImportedConsent')

const Consents = z.record(Code(maxConsentKeyLength), Consent).openapi({
  description: 'Answers to consents, by the key of the consent. A later answer of the person stays.',
})

const contactRequired = {
  params: { code: 'contact_required' },
  message: 'Give an e-mail address or a phone number.',
}

export const ImportedUserSchema = z
  .object({
    email: OptionalEmail.nullish(),
    phone_number: z.string().max(maxPhoneText).nullish().openapi({
      description:
        'With an e-mail address, a text that is not a phone number is left out, with the warning `phone_not_taken`.',
      example: '+45 32 12 34 56',
    }),
    ...nameFields,
    locale: Locale.nullish(),
    metadata: JsonObject.optional(),
    status: z.enum(subscriptionStatuses).nullish().openapi({
      description:
        'The state of the person in the mailing list of the other system. `unsubscribed` and `complained` end the consents to marketing, and `unconfirmed` gives none. Roles of the organisation also suppress the address: `cleaned` as one that bounces. Roles of an edition cannot import `cleaned` and `complained`.',
    }),
    status_at: Instant.nullish().openapi({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'Since when the person has the status. Default: now.',
    }),
    consents: Consents.optional(),
  })
  .refine((user) => user.email || cleanKey(user.phone_number ?? ''), contactRequired)
  .openapi('ImportedUser')

type WireUser = z.output<typeof ImportedUserSchema>

/** A customer as read, with the texts that are no phone number or no language. */
export interface ReadUser {
  user: ImportedUser
  unsupported_locale: string | null
}

const toConsents = (consents: WireUser['consents']): ImportedUser['consents'] =>
  Object.fromEntries(
    Object.entries(consents ?? {}).map(([key, { status, occurred_at, place }]) => [
      key,
      { status, at: occurred_at ?? null, place: place || null },
    ]),
  )

const toReadUser = (wire: WireUser): ReadUser => ({
  user: {
    email: wire.email ?? null,
    phone_number: cleanKey(wire.phone_number ?? '') || null,
    ...mergeNames(wire),
    locale: pickLanguage(wire.locale),
    metadata: wire.metadata ?? {},
    status: wire.status ?? null,
    status_at: wire.status_at ?? null,
    consents: toConsents(wire.consents),
  },
  unsupported_locale: listUnsupported([], wire.locale)[0]?.text ?? null,
})

/** `path` leads to the customer in the body, so that errors point at their fields. */
export function parseImportedUser(raw: unknown, path: readonly PropertyKey[]): ReadUser | { errors: FieldError[] } {
  const result = ImportedUserSchema.safeParse(raw)
  const unknownFields = findUnknownFields(ImportedUserSchema, raw, { prefix: path })
  if (result.success && !unknownFields.length) return toReadUser(result.data)
  return { errors: [...(result.error ? listFieldErrors(result.error, raw, path) : []), ...unknownFields] }
}

const CreateUser = z
  .object({
    organization_id: Id('org'),
    edition_id: Id('edt').nullable().optional().openapi({
      description: 'The edition that the customer joins. Only roles of the organisation may omit it.',
    }),
    email: EmailAddress.nullable().optional(),
    phone_number: z.string().max(maxPhoneLength).nullable().optional().openapi({
      description: 'A number without a country code gets that of the edition.',
      example: '+45 32 12 34 56',
    }),
    first_name: PersonName.default(''),
    last_name: PersonName.default(''),
    locale: LanguageInput.optional().openapi({ description: 'Default: the language of the edition, or English.' }),
    metadata: JsonObject.default({}),
    consents: Consents.default({}),
    emit_webhooks: z.boolean().default(false).openapi({
      description: 'Sends `user.updated` for an existing customer whose fields change, and the events of consents.',
    }),
  })
  .refine((user) => user.email || cleanKey(user.phone_number ?? ''), contactRequired)

export type CreateUserInput = z.output<typeof CreateUser>

export const toCreatedUser = (input: CreateUserInput): ImportedUser => ({
  email: input.email ?? null,
  phone_number: cleanKey(input.phone_number ?? '') || null,
  first_name: input.first_name,
  last_name: input.last_name,
  locale: input.locale ?? null,
  metadata: input.metadata,
  status: null,
  status_at: null,
  consents: toConsents(input.consents),
})

export const createUser = operation({
  id: 'createUser',
  tag: 'User',
  method: 'post',
  path: '/v1/user',
  summary: 'Create a user',
  description: `Adds a customer who has no order. A customer of the organisation who has the address, or nothing but the phone number,
is that customer: they join the edition, what is missing is filled in, and nothing is overwritten. Nothing is sent to
the customer. Answers to consents of the organisation need a role of the organisation.`,
  roles: managers,
  status: 201,
  body: CreateUser,
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    edition_id: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    email: 'aegir@example.dk',
    first_name: 'Ægir',
    last_name: 'Holm',
    locale: 'da',
  },
  response: User,
  errors: ['edition_archived'],
})
