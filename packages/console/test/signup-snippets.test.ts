import { describe, expect, it } from 'vitest'
import { writeSnippet } from '../src/pages/consents/snippets'

const form = {
  public_url: 'https://api.example.com/signup/sgf_1?a=1&b=2',
  title: { da: 'Nyt <b>"fra"</b> os' },
  name: 'Newsletter',
  languages: ['da' as const],
  consent_ids: ['con_1', 'con_2'],
}

describe('a snippet of a sign-up form', () => {
  it('escapes texts and addresses', () => {
    expect(writeSnippet('link', form, '')).toBe(
      '<a href="https://api.example.com/signup/sgf_1?a=1&amp;b=2">Nyt &lt;b&gt;&quot;fra&quot;&lt;/b&gt; os</a>',
    )
    expect(writeSnippet('frame', { ...form, title: {}, name: '"><script>' }, '')).not.toContain('<script>')
  })

  it('posts each consent, the language and the empty field against robots', () => {
    const html = writeSnippet('form', form, 'Tilmeld <nu>')
    for (const part of ['value="con_1"', 'value="con_2"', 'name="language" value="da"', 'name="homepage"'])
      expect(html).toContain(part)
    expect(html).toContain('<button>Tilmeld &lt;nu&gt;</button>')
  })
})
