import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import type { Block } from '../../src/domain/email/blocks/blocks.ts'
import { compile } from '../../src/domain/email/compile.ts'
import { personalise } from '../../src/domain/email/personalise.ts'
import { languages, type TranslatedDict } from '../../src/domain/languages.ts'
import { db } from '../support/seeding/rows.ts'

const contexts = {
  'nothing but an order': { order: { number: '100234', date: '1 June 2026' } },
  'a name of spaces': {
    customer: { first_name: ' ' },
    order: { number: '100234', date: '1 June 2026' },
    purchase: { product: '' },
  },
  everything: {
    customer: { first_name: 'Astrid' },
    order: { number: '100234', date: '1 June 2026' },
    purchase: { product: 'Day ticket' },
  },
}
const invitations = /reply|svar på|svara på|beantwoord|odpowiedz/i

it('the platform’s messages have no gaps in any language, and invite no reply', async () => {
  const rows = await db.all(
    sql<{ subject: string; blocks: string }>`select subject, blocks from email_messages
      where scope = 'platform' and id in ('eml_0000000000000000000000NEWS', 'eml_00000000000000000000REFUND',
        'eml_0000000000000000000RECEIPT')`,
  )
  expect(rows).toHaveLength(3)
  for (const { subject, blocks } of rows)
    for (const language of languages)
      for (const [name, contextValues] of Object.entries(contexts)) {
        const message = {
          subject: JSON.parse(subject) as TranslatedDict,
          blocks: JSON.parse(blocks) as Block[],
          template: 'modern' as const,
        }
        const context = {
          ...contextValues,
          edition: { name: 'Fest' },
          organization: { name: 'Nordlys' },
          refund: { amount: 'DKK 200.00' },
        }
        const template = compile(message, language, { defaultLanguage: language, title: 'Fest', sender: 'Nordlys' })
        const { subject: title, html, text } = personalise(template, context)
        const paragraphs = [...html.matchAll(/<p[^>]*>(.*?)<\/p>/gs)].map(([, inside]) =>
          inside?.replaceAll(/<[^>]+>/g, ''),
        )
        for (const line of [title, ...text.split('\n'), ...paragraphs])
          expect([language, name, line]).not.toEqual([
            language,
            name,
            expect.stringMatching(/\S {2,}\S| [,.)]|\(\s*[),]|\{|\}/),
          ])
        expect(text).not.toMatch(invitations)
        if (text.includes('DKK 200.00') && name !== 'everything')
          expect(text).toMatch(/ (order|ordre|beställning|bestelling|zamówienie) 100234 \(Fest\)\./)
        if (name === 'everything' && text.includes('DKK')) expect(text).toContain('Day ticket (Fest, ')
      }
})
