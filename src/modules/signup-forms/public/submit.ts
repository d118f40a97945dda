import type { JobCtx } from '../../../context.ts'
import { AppError, fieldError, invalid, notFound } from '../../../domain/errors.ts'
import type { Language } from '../../../domain/languages.ts'
import type { PublicForm } from './form.ts'
import { type SignupEntries, trapField } from './page.ts'
import { parseSignup, requestSignup } from './request.ts'
import { type SignupFault, signupWords } from './words.ts'

interface SentHeaders {
  origin: string | undefined
  referer: string | undefined
}

const parseOrigin = (text: string | undefined): string | null =>
  text !== undefined && URL.canParse(text) ? new URL(text).origin : null

/**
 * Returns the site that sends a form: the page of the form itself, or an allowed site. Browsers say it for every form, so
 * a request that does not is refused too.
 */
export function checkSite(
  job: Pick<JobCtx, 'config'>,
  form: PublicForm,
  requestUrl: string,
  { origin, referer }: SentHeaders,
): { site: string; isOwn: boolean } {
  const site = parseOrigin(origin ?? referer) ?? 'an unknown site'
  const isOwn = [job.config.publicUrl, requestUrl].some((url) => parseOrigin(url) === site)
  if (!isOwn && !form.allowed_sites.includes(site))
    throw new AppError('site_not_allowed', `This form accepts no requests from ${site}.`)
  return { site, isOwn }
}

export interface SentForm {
  entries: SignupEntries
  /** The text of the field that people do not see. */
  trap: string
  language: Language
}

/** Parses the fields of a form. Files count as nothing. */
export function readSentForm(fields: FormData): Omit<SentForm, 'language'> & { requestedLanguage: string | undefined } {
  const listTexts = (name: string) => fields.getAll(name).filter((value) => typeof value === 'string')
  return {
    entries: { email: listTexts('email')[0] ?? '', consentIds: listTexts('consent') },
    trap: listTexts(trapField).join(''),
    requestedLanguage: listTexts('language')[0],
  }
}

export type SignupOutcome = 'accepted' | 'too_many' | 'closed' | SignupFault

/** Accepts a form that a robot filled, and stores nothing. */
export async function submitSignup(
  job: JobCtx,
  form: PublicForm,
  { entries, trap, language }: SentForm,
  visitor: Parameters<typeof requestSignup>[3],
): Promise<SignupOutcome> {
  if (!form.is_open) return 'closed'
  const parsedSignup = parseSignup(form, entries, language)
  if (parsedSignup.fault !== null) return parsedSignup.fault
  if (trap !== '') return 'accepted'
  return (await requestSignup(job, form, parsedSignup.signup, visitor)) ? 'accepted' : 'too_many'
}

export function describeOutcome(outcome: Exclude<SignupOutcome, 'accepted'>, language: Language): string {
  const words = signupWords[language]
  if (outcome === 'too_many') return words.tooMany
  return outcome === 'closed' ? words.closed : words.faults[outcome]
}

const faultFields = {
  email_invalid: ['email', 'invalid_email', 'This is not an e-mail address.'],
  consent_missing: ['consent', 'required', 'Send the id of at least one consent of the form.'],
  consent_required: ['consent', 'required', 'A consent of the form is required.'],
  consent_unknown: ['consent', 'does_not_exist', 'The form does not ask for this consent.'],
} as const satisfies Record<SignupFault, readonly [string, string, string]>

/** The error for a client that wants JSON. */
export function createOutcomeError(outcome: Exclude<SignupOutcome, 'accepted' | 'too_many'>): AppError {
  if (outcome === 'closed') return new AppError('signup_closed', 'This form is closed.')
  const [field, code, detail] = faultFields[outcome]
  return invalid(fieldError([field], code, detail))
}

export const createUnknownFormError = (): AppError => notFound()

export const createFormTypeError = (): AppError =>
  new AppError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded or multipart/form-data.')

export const createFormError = (): AppError =>
  new AppError('malformed_body', 'The body is not a form.', {
    errors: [fieldError([], 'invalid', 'The body is not a form.')],
  })
