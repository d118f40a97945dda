import type { FieldError } from '../errors.ts'
import type { Language } from '../languages.ts'
import type { EmailMessageType } from '../messaging/email-messages.ts'
import { isRecord } from '../text/json.ts'
import { renderContentHtml } from './blocks/block-html.ts'
import { pickVisibleBlocks } from './blocks/conditions.ts'
import { compile, type CompileOptions, type Message } from './compile.ts'
import { checkTemplate } from './liquid/liquid.ts'
import { findOverflow } from './liquid/overflow.ts'
import { type MissingTranslation, findMissingTranslations, chooseReader } from './liquid/translations.ts'
import { buildSampleContext, type TemplateContext, pickTypeValues } from './liquid/variables.ts'
import { readTranslation } from './messages/phrases.ts'
import { personalise } from './personalise.ts'
import { type UnknownVariable, findUnknownVariables } from './unknown-variables.ts'

export interface Preview {
  html: string
  subject: string
  /** The preheader; empty without one. */
  preheader: string
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
  /** The conditions of blocks that hold. */
  conditions: ReadonlySet<string>
}

const unsafeKeys = new Set(['__proto__', 'constructor', 'prototype'])

/** Merges objects key by key; anything else in `changes` replaces the value. */
function mergeValues(values: unknown, changes: unknown): unknown {
  if (!isRecord(values) || !isRecord(changes)) return changes
  const entries = Object.entries(changes).filter(([key]) => !unsafeKeys.has(key))
  return { ...values, ...Object.fromEntries(entries.map(([key, change]) => [key, mergeValues(values[key], change)])) }
}

/** Sample values for the type of the message, with the values of the request in place of some. */
const buildContext = ({ type, values }: PreviewRequest, language: Language): TemplateContext =>
  pickTypeValues(type, mergeValues(buildSampleContext(language), values) as Record<string, unknown>)

/** The text of the message that becomes too long with the values of the request, as a fault of its field. */
export function findPreviewOverflow(
  message: Message,
  request: PreviewRequest,
  options: CompileOptions,
): FieldError | null {
  const reader = chooseReader(message, request.language, options.defaultLanguage)
  return findOverflow(message, reader, buildContext(request, reader.language))
}

/** Renders a text that is one line. */
const renderLine = (line: string, context: TemplateContext): string =>
  personalise({ subject: line, html: '', text: '', links: [] }, context).subject

export function renderPreview(message: Message, request: PreviewRequest, options: CompileOptions): Preview {
  const { mode, language, type, conditions } = request
  const reader = chooseReader(message, language, options.defaultLanguage)
  const template = compile(message, language, options)
  const visibleBlocks = pickVisibleBlocks(message.blocks, (condition) => conditions.has(condition))
  const previewTemplate = mode === 'mjml' ? template : { ...template, html: renderContentHtml(visibleBlocks, reader) }
  const context = buildContext(request, reader.language)
  const block_conditions = template.conditions.map((condition) => conditions.has(condition))
  const renderedMessage = personalise(previewTemplate, { ...context, block_conditions })
  return {
    ...renderedMessage,
    preheader: renderLine(readTranslation(message.preheader ?? {}, reader), context),
    language: reader.language,
    size_bytes: new TextEncoder().encode(renderedMessage.html).length,
    missing_translations: findMissingTranslations(message, language, reader),
    unknown_variables: findUnknownVariables(message, reader, type),
  }
}

/** Renders the subject with sample values. A subject that cannot be rendered is returned unchanged. */
export function previewSubject(subject: string, language: Language): string {
  const sample = buildSampleContext(language)
  if (!checkTemplate(subject, sample).ok) return subject
  return renderLine(subject, sample)
}
