import mjml2html from 'mjml'
import { describe, expect, it } from 'vitest'
import { Placeholders } from '../../src/domain/email/blocks/block-mjml.ts'
import { buildMjml } from '../../src/domain/email/compile.ts'
import { buildReader } from '../../src/domain/email/messages/phrases.ts'
import { renderMjml } from '../../src/domain/email/mrml.ts'
import { languages } from '../../src/domain/languages.ts'
import { aMessageOf, framing, oneOfEach, outline } from '../support/messages.ts'

/** mjml runs only in Node and is the reference for mrml, which renders our messages. */
const cases = [
  ...oneOfEach.map((block) => [block.type, aMessageOf(block)] as const),
  ['every type', aMessageOf(...oneOfEach)] as const,
]

describe.each(cases)('the markup of %s', (_, message) => {
  it.each(languages)('is equal to the output of mjml for %s', async (language) => {
    const placeholders = new Placeholders()
    const mjml = buildMjml(message, buildReader(language, 'en'), framing, placeholders)
    const { html, errors } = await mjml2html(mjml, { validationLevel: 'soft' })
    expect(errors).toEqual([])
    const [ours, theirs] = [renderMjml(mjml), html].map((markup) => outline(placeholders.restore(markup)))
    expect(ours?.length).toBeGreaterThan(3)
    expect(ours).toEqual(theirs)
  })
})
