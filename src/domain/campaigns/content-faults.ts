import { checkExpression } from '../cel/index.ts'
import { listBlocks } from '../email/blocks/blocks.ts'
import { mayBeEmpty } from '../email/blocks/conditions.ts'
import type { MessageDraft } from '../email/check.ts'
import { chooseReader, listMissingTexts } from '../email/liquid/translations.ts'
import { buildReader } from '../email/messages/phrases.ts'
import { findUnknownUses, identifyUse, type UnknownUse } from '../email/unknown-variables.ts'
import { type FieldError, fieldError, pointerTo } from '../errors.ts'
import type { Language, TranslatedDict } from '../languages.ts'
import type { Channel } from '../messaging/messaging.ts'
import type { CommunicationType } from '../segments.ts'
import { isBlank } from './readiness.ts'

/** Faults that a caller may accept when a campaign is scheduled or sent. */
export const acceptableFaults = ['missing_translations'] as const
export type AcceptableFault = (typeof acceptableFaults)[number]

/** A missing text that was accepted. Blocks keep their ids when they are moved. */
export interface AcceptedTranslation {
  language: Language
  /** Null for the subject and the preheader. */
  block_id: string | null
  field: string
}

/** The texts of a campaign, and who reads them. */
export interface CampaignTexts {
  channel: Channel
  /** Null without a message. */
  message: MessageDraft | null
  sms_body: TranslatedDict
  default_language: Language
  enabled_languages: readonly Language[]
  communication_type: CommunicationType
  /** The edition of the message; null for a message of the organisation, and without a message. */
  message_edition_id: string | null
  /** The edition of the segment; null for a segment of the organisation. */
  segment_edition_id: string | null
}

/** A fault in a text of a message, or in one of an SMS. */
export interface ContentFault {
  code:
    | 'unknown_variable'
    | 'empty_variable'
    | 'missing_translation'
    | 'untranslated_language'
    | 'invalid_condition'
    | 'no_block_for_everyone'
    | 'other_edition'
  path: readonly (string | number)[]
  detail: string
  /** Set if the fault is a missing text, which can be accepted. */
  translation?: AcceptedTranslation
}

export interface ContentFaults {
  errors: ContentFault[]
  warnings: ContentFault[]
}

const listLanguages = ({ default_language, enabled_languages }: CampaignTexts): Language[] => [
  ...new Set([default_language, ...enabled_languages]),
]

/** Variables that messages to this kind of segment do not have. */
const absentNames: Record<CommunicationType, ReadonlySet<string>> = {
  marketing: new Set(),
  transactional: new Set(['links.unsubscribe']),
}

function describeUse({ variable, suggestion, has_default }: UnknownUse): string {
  const hint = suggestion === null ? '' : ` Did you mean \`${suggestion}\`?`
  const end = has_default ? ' The text of its `default` filter is sent.' : hint
  return `\`${variable}\` has no text in campaigns.${end}`
}

const toVariableFault = (use: UnknownUse, texts: CampaignTexts): ContentFault =>
  absentNames[texts.communication_type].has(use.variable)
    ? {
        code: 'empty_variable',
        path: use.path,
        detail: `\`${use.variable}\` is empty in campaigns to a transactional segment.`,
      }
    : { code: 'unknown_variable', path: use.path, detail: describeUse(use) }

/** An SMS without a text in a language has the text of the default language. */
export const chooseSmsLanguage = (bodies: TranslatedDict, language: Language, defaultLanguage: Language): Language =>
  isBlank(bodies[language]) ? defaultLanguage : language

/** Chooses the language of the text that readers of a language get. Returns null without any text. */
export function chooseTextLanguage(texts: CampaignTexts, language: Language): Language | null {
  const { channel, message, sms_body, default_language } = texts
  if (channel === 'email') return message && chooseReader(message, language, default_language).language
  const textLanguage = chooseSmsLanguage(sms_body, language, default_language)
  return isBlank(sms_body[textLanguage]) ? null : textLanguage
}

/** Texts that are sent, once for each language in which they are read. An SMS is a message with one text. */
function listReadDrafts(texts: CampaignTexts) {
  const { channel, message, sms_body, default_language } = texts
  const languages = listLanguages(texts)
  if (channel === 'email')
    return message
      ? languages.map((language) => ({ draft: message, reader: chooseReader(message, language, default_language) }))
      : []
  return languages
    .filter((language) => !isBlank(sms_body[language]))
    .map((language) => ({
      draft: { subject: { [language]: sms_body[language] } },
      reader: buildReader(language, language),
    }))
}

function findVariableFaults(texts: CampaignTexts): ContentFaults {
  const uses = new Map<string, UnknownUse>()
  for (const { draft, reader } of listReadDrafts(texts))
    for (const unknownUse of findUnknownUses(draft, reader, 'campaign', absentNames[texts.communication_type])) {
      const use =
        texts.channel === 'sms' ? { ...unknownUse, path: ['sms_body', ...unknownUse.path.slice(1)] } : unknownUse
      uses.set(identifyUse(use), use)
    }
  const faults = [...uses.values()].map((use) => ({ use, fault: toVariableFault(use, texts) }))
  const isWarning = ({ use, fault }: (typeof faults)[number]) => use.has_default || fault.code === 'empty_variable'
  return {
    errors: faults.filter((entry) => !isWarning(entry)).map(({ fault }) => fault),
    warnings: faults.filter(isWarning).map(({ fault }) => fault),
  }
}

const describeUntranslated = (language: Language): string =>
  `Nothing is written in \`${language}\`, so its readers get another language.`

/** The subject in the default language is missing in the message itself. */
function findLanguageFaults(message: MessageDraft, language: Language, defaultLanguage: Language): ContentFaults {
  const texts = listMissingTexts(message, language)
  if (texts === null)
    return {
      errors: [],
      warnings: [
        { code: 'untranslated_language', path: ['subject', language], detail: describeUntranslated(language) },
      ],
    }
  const errors = texts
    .filter(({ field, block_id }) => block_id !== null || field !== 'subject' || language !== defaultLanguage)
    .map(({ path, block_id, field }) => ({
      code: 'missing_translation' as const,
      path: [...path, language],
      detail: `This text has no translation in \`${language}\`, so the whole message may be sent in another language.`,
      translation: { language, block_id, field },
    }))
  return { errors, warnings: [] }
}

function findTranslationFaults(texts: CampaignTexts): ContentFaults {
  const { channel, message, sms_body, default_language } = texts
  const languages = listLanguages(texts)
  if (channel === 'email') {
    const faults = message ? languages.map((language) => findLanguageFaults(message, language, default_language)) : []
    return { errors: faults.flatMap(({ errors }) => errors), warnings: faults.flatMap(({ warnings }) => warnings) }
  }
  const missingLanguages = languages.filter((language) => language !== default_language && isBlank(sms_body[language]))
  const warnings = missingLanguages.map((language) => ({
    code: 'untranslated_language' as const,
    path: ['sms_body', language],
    detail: describeUntranslated(language),
  }))
  return { errors: [], warnings }
}

/** Says why blocks of a message of one edition have no conditions for customers of another edition. */
export const otherEdition =
  'The message has blocks with conditions and belongs to another edition than the segment. Choose a segment of the same edition or of the whole organisation.'

const nothingForSome =
  'Some recipients would see no block. Add a block with a text or an image and without a condition.'

function findConditionFaults({ message, message_edition_id, segment_edition_id }: CampaignTexts): ContentFault[] {
  const places = listBlocks(message?.blocks ?? []).flatMap(({ block: { condition }, path }) =>
    condition === undefined ? [] : [{ condition, path: [...path, 'condition'] }],
  )
  if (places.length === 0) return []
  const isOtherEdition =
    message_edition_id !== null && segment_edition_id !== null && message_edition_id !== segment_edition_id
  return [
    ...(isOtherEdition ? [{ code: 'other_edition' as const, path: ['blocks'], detail: otherEdition }] : []),
    ...(mayBeEmpty(message?.blocks ?? [])
      ? [{ code: 'no_block_for_everyone' as const, path: ['blocks'], detail: nothingForSome }]
      : []),
    ...places.flatMap(({ condition, path }): ContentFault[] => {
      const checkResult = checkExpression(condition)
      if (checkResult.ok) return []
      return [{ code: 'invalid_condition', path, detail: checkResult.errors[0]?.message ?? '' }]
    }),
  ]
}

const isSameTranslation = (a: AcceptedTranslation, b: AcceptedTranslation): boolean =>
  a.language === b.language && a.block_id === b.block_id && a.field === b.field

/** Variables that stay empty and missing translations. Translations that were accepted are warnings. */
export function findContentFaults(
  texts: CampaignTexts,
  acceptedTranslations: readonly AcceptedTranslation[],
): ContentFaults {
  const variables = findVariableFaults(texts)
  const translations = findTranslationFaults(texts)
  const isAccepted = ({ translation }: ContentFault) =>
    translation !== undefined && acceptedTranslations.some((other) => isSameTranslation(translation, other))
  return {
    errors: [
      ...variables.errors,
      ...translations.errors.filter((fault) => !isAccepted(fault)),
      ...findConditionFaults(texts),
    ],
    warnings: [...translations.errors.filter(isAccepted), ...variables.warnings, ...translations.warnings],
  }
}

/** The missing texts, to be accepted. */
export const listMissingTranslations = (texts: CampaignTexts): AcceptedTranslation[] =>
  findTranslationFaults(texts).errors.flatMap(({ translation }) => translation ?? [])

const maxListedFaults = 100

/** Faults as errors of the campaign. Those of its message name the place in the message. */
export const toFieldErrors = (faults: readonly ContentFault[], channel: Channel): FieldError[] =>
  faults.slice(0, maxListedFaults).map(({ code, path, detail }) => {
    if (channel === 'sms') return fieldError(path, code, detail)
    const pointer = pointerTo(path)
    return { ...fieldError(['email_message_id'], code, `${pointer}: ${detail}`), email_message_pointer: pointer }
  })
