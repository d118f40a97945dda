import { isRecord } from '../text/json.ts'
import type { FieldError } from '../errors.ts'
import type { Language } from '../languages.ts'
import { bareHtml } from './blocks/block-html.ts'
import type { EmailMessageType } from '../messaging/email-messages.ts'
import { type UnknownVariable, findUnknownVariables } from './check.ts'
import { compile, type CompileOptions, type Message } from './compile.ts'
import { checkTemplate } from './liquid/liquid.ts'
import { findOverflow } from './liquid/overflow.ts'
import { personalise } from './personalise.ts'
import { type MissingTranslation, missingTranslations, readerFor } from './liquid/translations.ts'
import { sampleContext, type TemplateContext, withheldFrom } from './liquid/variables.ts'

export interface Preview {
  html: string
  subject: string
  text: string
  /** The language of the message, which may differ from the requested one. */
  language: Language
  size_bytes: number
  missing_translations: MissingTranslation[]
  unknown_variables: UnknownVariable[]
}

export interface PreviewRequest {
  mode: 'mjml' | 'html'
  language: Language
  type: EmailMessageType
  /** Values that replace sample values. */
  values: Record<string, unknown>
}

const unsafe = new Set(['__proto__', 'constructor', 'prototype'])

/** `over` merged into `under`: objects key by key, anything else as a whole. */
function mergedValues(under: unknown, over: unknown): unknown {
  if (!isRecord(under) || !isRecord(over)) return over
  const entries = Object.entries(over).filter(([key]) => !unsafe.has(key))
  return { ...under, ...Object.fromEntries(entries.map(([key, value]) => [key, mergedValues(under[key], value)])) }
}

/** The sample values of a recipient, with the values of the request in their place. */
function contextOf({ type, values }: PreviewRequest, language: Language): TemplateContext {
  const context = mergedValues(sampleContext(language), values) as Record<string, unknown>
  for (const { category, name } of withheldFrom(type)) {
    const given = context[category]
    if (isRecord(given)) context[category] = { ...given, [name]: '' }
  }
  return context
}

/** The text of a message that the given values make too large, and the place in it. */
export function overflowOfPreview(message: Message, asked: PreviewRequest, options: CompileOptions): FieldError | null {
  const reader = readerFor(message, asked.language, options.defaultLanguage)
  return findOverflow(message, reader, contextOf(asked, reader.language))
}

export function previewOf(message: Message, asked: PreviewRequest, options: CompileOptions): Preview {
  const { mode, language, type } = asked
  const reader = readerFor(message, language, options.defaultLanguage)
  const template = compile(message, language, options)
  const shown = mode === 'mjml' ? template : { ...template, html: bareHtml(message.blocks, reader) }
  const made = personalise(shown, contextOf(asked, reader.language))
  return {
    ...made,
    language: reader.language,
    size_bytes: new TextEncoder().encode(made.html).length,
    missing_translations: missingTranslations(message, language, reader),
    unknown_variables: findUnknownVariables(message, reader, type),
  }
}

/** A subject, rendered with the samples; unchanged when it cannot be rendered. */
export function previewSubject(subject: string, language: Language): string {
  const sample = sampleContext(language)
  if (!checkTemplate(subject, sample).ok) return subject
  return personalise({ subject, html: '', text: '', links: [] }, sample).subject
}
