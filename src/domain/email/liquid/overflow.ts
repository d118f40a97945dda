import { type FieldError, fieldError } from '../../errors.ts'
import { type MessageDraft, type TextSource, listTextsFor } from '../check.ts'
import type { TextReader } from '../messages/phrases.ts'
import { limitValues } from '../personalise.ts'
import { locateFault, maxRenderedLength, type Output, parseLiquid, renderLiquid } from './liquid.ts'
import type { TemplateContext } from './variables.ts'

/** The order in which the texts of a message are rendered. */
const passes: readonly { output: Output; includes: (source: TextSource) => boolean }[] = [
  { output: 'html', includes: ({ kind }) => kind !== 'subject' },
  { output: 'text', includes: ({ kind }) => kind !== 'subject' && kind !== 'preheader' },
  { output: 'text', includes: ({ kind }) => kind === 'subject' },
]

/** The text of a message that becomes too long with these values; null when only the message as a whole does. */
export function findOverflow(draft: MessageDraft, reader: TextReader, context: TemplateContext): FieldError | null {
  const values = limitValues(context)
  const sources = listTextsFor(draft, reader)
  for (const { output, includes } of passes) {
    let remainingLength = maxRenderedLength
    for (const { path, text } of sources.filter(includes)) {
      try {
        remainingLength -= renderLiquid(output, parseLiquid(output, text), values, remainingLength).length
      } catch (error) {
        const { code, detail, line, column } = locateFault(error)
        return { ...fieldError(path, code, detail), line, column }
      }
    }
  }
  return null
}
