import { type FieldError, fieldError } from '../../errors.ts'
import { Budget, maxRenderedLength } from '../budget.ts'
import { type MessageDraft, type TextSource, sourcesFor } from '../check.ts'
import { faultOf, filtersWhenSent, type Output, parse, render } from './liquid.ts'
import { admitted } from '../personalise.ts'
import type { TemplateContext } from './variables.ts'
import type { TextReader } from '../messages/words.ts'

/** The order in which the texts of a message are rendered. */
const passes: readonly { output: Output; of: (source: TextSource) => boolean }[] = [
  { output: 'html', of: ({ kind }) => kind !== 'subject' },
  { output: 'text', of: ({ kind }) => kind !== 'subject' },
  { output: 'text', of: ({ kind }) => kind === 'subject' },
]

/**
 * Which text of a message spends the budget of a rendering with these values, and where in it. Null when it is the
 * message as a whole that does.
 */
export function overflowOf(draft: MessageDraft, reader: TextReader, context: TemplateContext): FieldError | null {
  const sources = sourcesFor(draft, reader)
  const values = admitted(context)
  const length = new Budget(maxRenderedLength)
  for (const { output, of } of passes) {
    const filters = filtersWhenSent()
    for (const source of sources.filter(of)) {
      try {
        render(output, parse(output, source.text), values, { length, filters })
      } catch (error) {
        const { code, detail, line, column } = faultOf(error)
        return { ...fieldError(source.path, code, detail), line, column }
      }
    }
  }
  return null
}
