import { describe, expect, it } from 'vitest'
import { compile } from '../../src/domain/email/compile.ts'
import {
  type RefundMessage,
  buildRefundMessage,
  describeRefundReason,
} from '../../src/domain/email/messages/refund-messages.ts'
import { personalise } from '../../src/domain/email/personalise.ts'
import { languages } from '../../src/domain/languages.ts'
import { refundEmailKinds } from '../../src/domain/messaging/transactional-emails.ts'
import { refundReasons } from '../../src/domain/refunds/refunds.ts'

function renderMessage(message: RefundMessage) {
  const { language } = message
  const options = { defaultLanguage: language, title: 'Nordlys 2026', sender: 'Nordlys' }
  return personalise(compile(buildRefundMessage(message), language, options), {})
}

const aMessage = { order: '100234', organisation: 'Nordlys', amount: '1.150,00 kr.', reason: null } as const

describe('the platform’s messages about refunds', () => {
  it('name the order and the amount in every language, and differ from each other', () => {
    const subjects = new Set<string>()
    for (const language of languages)
      for (const kind of refundEmailKinds) {
        const { subject, html, text } = renderMessage({ ...aMessage, kind, language })
        expect([language, kind, subject]).toEqual([language, kind, expect.stringContaining('100234')])
        for (const body of [html, text]) {
          expect(body).toContain('100234')
          expect(body).toContain('1.150,00 kr.')
          expect(body).not.toMatch(/\{(order|amount|organisation)\}/)
        }
        subjects.add(subject)
      }
    expect(subjects.size).toBe(languages.length * refundEmailKinds.length)
  })

  it('show texts of people as text: no markup, no template, and no other placeholder', () => {
    const hostile = '{{ customer.email }}{% if x %}<script>alert(1)</script>{amount}'
    const mail = renderMessage({
      ...aMessage,
      kind: 'refund_rejection',
      language: 'en',
      order: hostile,
      reason: hostile,
    })
    expect(mail.subject).toContain(hostile)
    expect(mail.text).toContain(`Reason: ${hostile}`)
    expect(mail.html).not.toContain('<script>alert')
  })

  it('have a text for every reason in every language', () => {
    for (const language of languages) {
      const texts = refundReasons.map((reason) => describeRefundReason(reason, language))
      expect(new Set(texts).size).toBe(refundReasons.length)
    }
  })
})
