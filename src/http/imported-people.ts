import { z } from '@hono/zod-openapi'
import { maxEmailLength, maxPersonNameLength, normalizeEmail, splitFullName } from '../domain/accounts/users.ts'
import { type Language, parseLanguage } from '../domain/languages.ts'
import { cleanKey, cleanName } from '../domain/text/invisible.ts'
import { PersonName } from './fields.ts'

export const OptionalEmail = z
  .string()
  .max(maxEmailLength)
  .transform((text, context) => {
    if (cleanKey(text) === '') return null
    const email = normalizeEmail(text)
    if (email !== null) return email
    context.addIssue({ code: 'custom', params: { code: 'invalid_email' }, message: 'This is not an e-mail address.' })
    return z.NEVER
  })
  .openapi({ format: 'email', example: 'aegir@example.dk' })

/** Longer than any language tag, because orders with other texts are imported without a language. */
const maxLanguageText = 1000

/** The edition's language replaces one that is not supported, as in files. */
export const Locale = z
  .string()
  .max(maxLanguageText)
  .transform((tag) => {
    const text = cleanKey(tag)
    return parseLanguage(text) ?? { unsupported: text }
  })
  .openapi({
    description:
      'A language tag. The language of the edition replaces one other than en, da, se, nl and pl, and `warnings` says so.',
    example: 'da',
  })

/** Longer than any phone number, because other texts are imported without a number. */
export const maxPhoneText = 1000

const OptionalName = PersonName.nullish()

/** Splits the name into a first and a last name. */
const OptionalFullName = z
  .string()
  .overwrite(cleanName)
  .max(2 * maxPersonNameLength + 1)
  .transform((text, context) => {
    const name = splitFullName(text)
    const isShort = [name.first_name, name.last_name].every((part) => part.length <= maxPersonNameLength)
    if (isShort) return name
    const message = `The first and the last name have at most ${maxPersonNameLength} characters each.`
    context.addIssue({ code: 'custom', params: { code: 'max_length' }, message })
    return z.NEVER
  })
  .nullish()
  .openapi({
    type: 'string',
    maxLength: 2 * maxPersonNameLength + 1,
    description:
      'Replaces a missing `first_name` or `last_name`. The last name is the part before a comma, or else the last ' +
      'word with the lower-case words directly before it.',
    example: 'Ægir Holm',
  })

export const nameFields = { first_name: OptionalName, last_name: OptionalName, full_name: OptionalFullName }

interface NamesInput {
  first_name?: string | null | undefined
  last_name?: string | null | undefined
  full_name?: { first_name: string; last_name: string } | null | undefined
}

export const mergeNames = ({ first_name, last_name, full_name }: NamesInput) => ({
  first_name: first_name || (full_name?.first_name ?? ''),
  last_name: last_name || (full_name?.last_name ?? ''),
})

export type WireLocale = z.output<typeof Locale> | null | undefined

export const pickLanguage = (locale: WireLocale): Language | null => (typeof locale === 'string' ? locale : null)

export const listUnsupported = (path: readonly string[], locale: WireLocale) =>
  typeof locale === 'object' && locale !== null ? [{ path, text: locale.unsupported }] : []
