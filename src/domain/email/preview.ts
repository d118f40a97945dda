import type { FieldError } from '../errors.ts'
import type { Language } from '../languages.ts'
import { bareHtml } from './block-html.ts'
import { type MissingTranslation, missingTranslations, type UnknownVariable, unknownVariables } from './check.ts'
import { compile, type CompileOptions, type Message } from './compile.ts'
import { check } from './liquid.ts'
import { overflowOf } from './overflow.ts'
import { personalise } from './personalise.ts'
import { sampleContext, type TemplateContext } from './variables.ts'
import { readerOf } from './words.ts'

export interface Preview {
  html: string
  subject: string
  text: string
  size_bytes: number
  missing_translations: MissingTranslation[]
  unknown_variables: UnknownVariable[]
}

export interface Asked {
  mode: 'mjml' | 'html'
  language: Language
  /** Laid over the sample values. */
  values: Record<string, unknown>
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const unsafe = new Set(['__proto__', 'constructor', 'prototype'])

/** `over` laid on `under`: objects key by key, anything else as a whole. */
function laidOver(under: unknown, over: unknown): unknown {
  if (!isObject(under) || !isObject(over)) return over
  const entries = Object.entries(over).filter(([key]) => !unsafe.has(key))
  return { ...under, ...Object.fromEntries(entries.map(([key, value]) => [key, laidOver(under[key], value)])) }
}

function contextOf({ language, values }: Asked): TemplateContext {
  const sample = sampleContext()
  return laidOver({ ...sample, customer: { ...sample.customer, language } }, values) as TemplateContext
}

/** Which text of a message makes too much of what was handed in, and where in it. */
export const overflowOfPreview = (message: Message, asked: Asked, options: CompileOptions): FieldError | null =>
  overflowOf(message, readerOf(asked.language, options.defaultLanguage), contextOf(asked))

export function previewOf(message: Message, asked: Asked, options: CompileOptions): Preview {
  const { mode, language } = asked
  const context = contextOf(asked)
  const reader = readerOf(language, options.defaultLanguage)
  const template = compile(message, language, options)
  const shown = mode === 'mjml' ? template : { ...template, html: bareHtml(message.blocks, reader) }
  const made = personalise(shown, context)
  return {
    ...made,
    size_bytes: new TextEncoder().encode(made.html).length,
    missing_translations: missingTranslations(message, reader),
    unknown_variables: unknownVariables(message, language),
  }
}

/** A subject as the recipient of the samples would see it; as it is written when it cannot be read. */
export function previewSubject(subject: string): string {
  if (!check(subject, sampleContext()).ok) return subject
  return personalise({ subject, html: '', text: '', links: [] }, sampleContext()).subject
}
