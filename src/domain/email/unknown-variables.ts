import type { Token } from 'liquidjs/dist/liquid.browser.mjs'
import type { EmailMessageType } from '../messaging/email-messages.ts'
import { listBlocks } from './blocks/blocks.ts'
import { listTextsFor, type MessageDraft, type TextSource } from './check.ts'
import { findEndlessResults, type Parsed, readTemplate } from './liquid/liquid.ts'
import { suggestVariable } from './liquid/suggest-variable.ts'
import { listVariableUses, type NameScope } from './liquid/variable-uses.ts'
import { buildSampleContext, getKnownNames, nameInLoop, pickTypeValues } from './liquid/variables.ts'
import type { TextReader } from './messages/phrases.ts'

export interface UnknownVariable {
  /** The name, or an expression whose result has no text, such as `5 | divided_by: 0`. */
  variable: string
  suggestion: string | null
}

/** An unknown variable and the text that uses it. */
export interface UnknownUse extends UnknownVariable {
  path: TextSource['path']
  has_default: boolean
}

const isKnown = (name: string, is_text: boolean, { texts, objects }: ReturnType<typeof getKnownNames>): boolean => {
  if (texts.has(name) || texts.has(name.replace(/\.size$/, ''))) return true
  const object = name.replace(/\.(size|first|last)$/, '')
  if (!objects.has(object)) return false
  return !is_text || name.endsWith('.size')
}

const maxExpressionLength = 100

/** The expression that ends with this filter. */
function readExpression({ input, begin, end }: Token): string {
  const start = Math.max(input.lastIndexOf('{{', begin), input.lastIndexOf('{%', begin))
  const expression = input.slice(start + 2, end).replace(/^-?\s*(?:assign\s+[^\s=]+\s*=)?/, '')
  return expression.trim().slice(0, maxExpressionLength)
}

interface ParsedText {
  source: TextSource
  nodes: Parsed[]
}

interface MessageKind {
  type: EmailMessageType
  /** Further variables that stay empty. */
  absentNames: ReadonlySet<string>
}

function listUnknownNames({ source, nodes }: ParsedText, kind: MessageKind, scope: NameScope): UnknownUse[] {
  const names = getKnownNames(kind.type)
  return listVariableUses(nodes, scope).flatMap(({ name, has_default, is_text }) => {
    if (isKnown(name, is_text, names) && !kind.absentNames.has(name)) return []
    const variable = nameInLoop(name)
    const isObject = names.objects.has(name)
    const suggestion = isObject ? null : suggestVariable(variable)
    return [{ path: source.path, variable, suggestion, has_default: has_default && !isObject }]
  })
}

/** Renders the texts with sample values, and lists results such as that of a division by zero. */
function listEndlessResults(texts: readonly ParsedText[], sample: object): UnknownUse[] {
  const nodes = texts.flatMap((text) => text.nodes)
  return findEndlessResults(nodes, sample).flatMap((token) => {
    const variable = readExpression(token)
    const sources = texts.filter(({ source }) => source.text === token.input)
    return sources.map(({ source: { path } }) => ({ path, variable, suggestion: null, has_default: false }))
  })
}

/** Names that a block with a condition declares are known in its text alone, because it may be left out. */
const pickScope = ({ source }: ParsedText, scope: NameScope): NameScope =>
  source.is_conditional ? { ...scope, locals: new Map(scope.locals) } : scope

/** Texts that are rendered as one, so that names which one of them declares are known in the next. */
function listUnknownUses(sources: readonly TextSource[], kind: MessageKind, sample: object): UnknownUse[] {
  const scope: NameScope = { locals: new Map(), items: new Map() }
  const texts = sources.flatMap((source) => {
    const template = readTemplate(source.text)
    return template.ok ? [{ source, nodes: template.nodes }] : []
  })
  return [
    ...texts.flatMap((text) => listUnknownNames(text, kind, pickScope(text, scope))),
    ...listEndlessResults(texts, sample),
  ]
}

/** A block that shows an order is empty in messages that have none. */
const listEmptySummaries = ({ blocks = [] }: MessageDraft, type: EmailMessageType): UnknownUse[] =>
  getKnownNames(type).objects.has('order')
    ? []
    : listBlocks(blocks).flatMap(({ block, path }) =>
        block.type === 'order_summary' ? [{ path, variable: 'order.items', suggestion: null, has_default: false }] : [],
      )

/** Identifies a use, to list it once. */
export const identifyUse = ({ path, variable, has_default }: UnknownUse): string =>
  JSON.stringify([path, variable, has_default])

/** Lists the uses of variables that stay empty for this reader of a message of this type, each once. */
export function findUnknownUses(
  draft: MessageDraft,
  reader: TextReader,
  type: EmailMessageType,
  absentNames: ReadonlySet<string> = new Set(),
): UnknownUse[] {
  const sample = pickTypeValues(type, { ...buildSampleContext(reader.language) })
  const sources = listTextsFor(draft, reader)
  // The subject is rendered by itself, and the plain text has no preheader, so blocks may use no names of either.
  const parts = Map.groupBy(sources, ({ kind }) => (kind === 'subject' || kind === 'preheader' ? kind : 'blocks'))
  const uses = [...parts.values()].flatMap((part) => listUnknownUses(part, { type, absentNames }, sample))
  return [...new Map([...uses, ...listEmptySummaries(draft, type)].map((use) => [identifyUse(use), use])).values()]
}

/** Lists the variables that stay empty in a message of this type, each once. */
export const findUnknownVariables = (
  draft: MessageDraft,
  reader: TextReader,
  type: EmailMessageType,
): UnknownVariable[] => {
  const uses = findUnknownUses(draft, reader, type)
  return [...new Map(uses.map(({ variable, suggestion }) => [variable, { variable, suggestion }])).values()]
}
