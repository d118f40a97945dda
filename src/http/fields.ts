import { z } from '@hono/zod-openapi'
import {
  maxEmailLength,
  maxPersonNameLength,
  maxPhoneLength,
  normalizeAccountEmail,
  normalizeEmail,
} from '../domain/accounts/users.ts'
import { languages, type TranslatedDict } from '../domain/languages.ts'
import { maxAmountMinor, toMajor, toMinor } from '../domain/money.ts'
import { maxSegmentNameLength } from '../domain/segments.ts'
import { utf8 } from '../domain/text/encoding.ts'
import { cleanKey, cleanName } from '../domain/text/invisible.ts'
import { maxJsonBytes } from '../domain/text/json.ts'
import { maxSlugLength, slugPattern } from '../domain/text/text.ts'
import { isTimeZone } from '../domain/time/time-zones.ts'

/**
 * Schemas that several contracts share. They leave `type` to the generator of the OpenAPI document, because an explicit
 * type would hide that a field can be null.
 */

const idExample = '01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'

export const Id = (prefix: string) =>
  z
    .string()
    .startsWith(`${prefix}_`, `Must be an id that begins with \`${prefix}_\`.`)
    .max(64)
    .openapi({ pattern: `^${prefix}_`, example: `${prefix}_${idExample}` })

const prefixesOfIds = new WeakMap<object, string>()

/** The prefix of the ids of a path parameter that `IdParams` made; null for others. */
export const findParamPrefix = (params: z.ZodType, name: string): string | null =>
  params instanceof z.ZodObject && name in params.shape
    ? (prefixesOfIds.get(params.shape[name] as object) ?? null)
    : null

export function IdParams(prefix: string) {
  const id = z.string().openapi({ param: { name: 'id', in: 'path' }, example: `${prefix}_${idExample}` })
  prefixesOfIds.set(id, prefix)
  return z.object({ id })
}

export const Timestamp = z.iso.datetime().openapi({ example: '2026-06-01T08:00:00.000Z' })

/** ISO 8601 writes these years with four digits. */
const firstInstant = Date.parse('0000-01-01T00:00:00.000Z')
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z')

/** Parses ISO 8601 with `Z` or an offset to milliseconds UTC. */
export const Instant = z.iso
  .datetime({
    offset: true,
    error: 'Must be a date and time with Z or an offset, for example 2026-06-01T10:00:00+02:00.',
  })
  .transform((text, context) => {
    const instant = Date.parse(text)
    if (instant >= firstInstant && instant <= lastInstant) return instant
    context.addIssue({ code: 'custom', params: { code: 'invalid_date' }, message: 'This date does not exist.' })
    return z.NEVER
  })
  .openapi({ example: '2026-06-01T10:00:00+02:00' })

/** The explicit type overrides the generated one, so it must include null. */
export const InstantOrNull = Instant.nullable().openapi({ type: ['string', 'null'], format: 'date-time' })

/** A required name, without white space around it, runs of spaces and invisible characters. */
export const RequiredText = (max: number) => z.string().overwrite(cleanName).min(1).max(max)

/** An id of another system or a code. Invisible characters and runs of spaces make no other id. */
export const Code = (max: number) => z.string().overwrite(cleanKey).max(max)

/** The name of an organisation, an event or an edition. */
export const Name = RequiredText(200)

export const Slug = z
  .string()
  .min(1)
  .max(maxSlugLength)
  .regex(slugPattern, 'Must contain only letters, digits, hyphens and underscores.')
  .openapi({ example: 'nordlys-festival-2026' })

export const TimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, {
    params: { code: 'invalid_choice' },
    message: 'Must be a name of the IANA time zone database, for example Europe/Copenhagen.',
  })
  .openapi({ example: 'Europe/Copenhagen' })

const Email = (normalize: (text: string) => string | null, message: string) =>
  z
    .string()
    .max(maxEmailLength)
    .transform((text, context) => {
      const email = normalize(text)
      if (email !== null) return email
      context.addIssue({ code: 'custom', params: { code: 'invalid_email' }, message })
      return z.NEVER
    })
    .openapi({ format: 'email', example: 'aegir@example.dk' })

/** The address of a customer in a request, in any of its spellings. */
export const EmailAddress = Email(normalizeEmail, 'This is not an e-mail address.')

/** The address by which a member signs in. Spaces around it come from copying it. */
export const AccountEmail = Email(
  (text) => normalizeAccountEmail(text.trim()),
  'This is not an e-mail address, or it has letters that look like others.',
)

/** Contact fields of responses. Requests are normalised to these forms before they are stored. */
export const KnownEmail = z.string().max(maxEmailLength).openapi({ format: 'email', example: 'aegir@example.dk' })
export const KnownPhone = z.string().max(maxPhoneLength).openapi({ example: '+4532123456' })
export const PersonName = z.string().overwrite(cleanName).max(maxPersonNameLength)
export const LastSeen = Timestamp.nullable().openapi({
  description:
    'When the customer last used a purchase, answered on a consent page, or opened or clicked a campaign message for the first time. It changes at most once a day (UTC). Null if none of these has happened, for an erased customer, and for roles of an edition.',
})
export const FullName = z.string().max(2 * maxPersonNameLength + 1)

export const Count = z.int().min(0)

/** An amount of a response, in major units. */
export const Amount = (example = 250) => z.number().openapi({ format: 'double', description: 'Major units.', example })

/** Parses a number with at most two decimals to hundredths: major units to minor units, or a percentage. */
export function parseHundredths(value: number, context: z.core.$RefinementCtx): number {
  const hundredths = toMinor(value)
  if (hundredths !== null) return hundredths
  context.addIssue({ code: 'custom', params: { code: 'max_decimal_places' }, message: 'At most 2 decimals.' })
  return z.NEVER
}

/** An amount of a request in major units, parsed to minor units. */
export const AmountInput = (min = 0) =>
  z.number().min(min).max(toMajor(maxAmountMinor)).transform(parseHundredths).openapi({ multipleOf: 0.01 })

/** A list in which each value occurs once. */
export const distinct = <Item extends z.ZodType>(item: Item, min: number, max: number) =>
  z
    .array(item)
    .min(min)
    .max(max)
    .refine((items) => new Set(items).size === items.length, {
      params: { code: 'repeated' },
      message: 'Each value may occur only once.',
    })
    .openapi({ uniqueItems: true })

/** A JSON object with any content. */
export const JsonObject = z
  .record(z.string(), z.unknown())
  .refine((value) => utf8(JSON.stringify(value)).length <= maxJsonBytes, {
    params: { code: 'max_length' },
    message: `Must be at most ${maxJsonBytes} bytes of JSON.`,
  })
  .openapi({ example: { internal_code: 'A-17' } })

export const LanguageCode = z.enum(languages)

const lowerLetters = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

/** A code in a request, in letters of either case. Responses have lower case. */
export const AnyCase = <const Codes extends readonly [string, ...string[]]>(codes: Codes) =>
  z
    .string()
    .overwrite(lowerLetters)
    .pipe(z.enum(codes))
    .openapi({ enum: [...codes] })

/** A language in a request. */
export const LanguageInput = AnyCase(languages)

// The types of `openapi()` lack `propertyNames` of OpenAPI 3.1.
const languageKeys: object = { propertyNames: { enum: languages }, maxProperties: languages.length }

export const Translated = (max: number) =>
  z
    .record(z.string(), z.string().max(max))
    .superRefine((value, context) => {
      const keys = Object.keys(value)
      for (const [index, key] of keys.entries()) {
        const language = lowerLetters(key)
        if (!(languages as readonly string[]).includes(language))
          context.addIssue({
            code: 'custom',
            path: [key],
            params: { code: 'unknown_language' },
            message: `Must be one of ${languages.join(', ')}.`,
          })
        else if (keys.findIndex((other) => lowerLetters(other) === language) < index)
          context.addIssue({
            code: 'custom',
            path: [key],
            params: { code: 'duplicate' },
            message: 'This language is listed more than once.',
          })
      }
    })
    .transform((value): TranslatedDict =>
      Object.fromEntries(Object.entries(value).map(([key, text]) => [lowerLetters(key), text])),
    )
    .openapi({
      ...languageKeys,
      example: { en: 'Summer festival', da: 'Sommerfestival' },
    })

export const Image = z
  .object({ thumbnail: z.string(), optimized: z.string(), large: z.string(), original: z.string() })
  .openapi('Image', {
    description: 'URLs of an image in several sizes. Without the Images binding, all of them return the original.',
  })

/** A named schema or null. The document would lose the null of `.nullable()` next to a reference. */
export const orNull = <S extends z.ZodType>(schema: S) => z.union([schema, z.null()])

export const OrganizationSummary = z
  .object({
    id: Id('org'),
    name: Name,
    slug: Slug,
    avatar: orNull(Image).openapi({ description: 'Null when the organisation has no avatar.' }),
  })
  .openapi('OrganizationSummary')

export const EditionSummary = z
  .object({
    id: Id('edt'),
    full_name: z.string(),
    slug: Slug,
    start_date: Timestamp.nullable().openapi({ description: 'Null when the edition has no start date.' }),
    end_date: Timestamp.nullable().openapi({ description: 'Null when the edition has no end date.' }),
    timezone: TimeZone,
    is_draft: z.boolean(),
    published_at: Timestamp.nullable().openapi({ description: 'Null when the edition was never published.' }),
  })
  .openapi('EditionSummary')

export const SegmentSummary = z
  .object({
    id: Id('seg'),
    name: RequiredText(maxSegmentNameLength),
    communication_type: z.string(),
    communication_channel: z.string(),
    status: z.string(),
    user_count: Count,
  })
  .openapi('SegmentSummary')

const WaitingReason = z.string().nullable().openapi('WaitingReason', {
  description: 'What it waits for, such as another service. Null while it does not wait.',
  example: 'The e-mail provider answers 500.',
})
const WaitingTime = Timestamp.nullable().openapi('WaitingTime', { description: 'Null while it does not wait.' })

/** The fields of a resource that can wait for another service. `presentWait` presents them. */
export const waitingFields = {
  waiting_reason: WaitingReason,
  waiting_since: WaitingTime,
  next_attempt_at: WaitingTime,
}
