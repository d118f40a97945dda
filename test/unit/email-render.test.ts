import { describe, expect, it } from 'vitest'
import { compile } from '../../src/domain/email/compile.ts'
import { personalise } from '../../src/domain/email/personalise.ts'
import { sampleContext } from '../../src/domain/email/variables.ts'

describe('a message', () => {
  it('renders in workerd', () => {
    const template = compile(
      { subject: { en: 'Hi {{ customer.first_name }}' }, blocks: [], template: 'modern' },
      'se',
      { defaultLanguage: 'en', title: 'Nordlys', sender: 'Nordlys' },
    )
    const made = personalise(template, sampleContext())
    expect(made.subject).toBe('Hi Astrid')
    expect(made.html).toContain('<html lang="sv"')
  })
})
